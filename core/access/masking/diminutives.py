"""What people with a name are called by those who know them. A short table of the usual ones, and no rule: a pet name
that nobody wrote here is not known, and is not masked."""

from __future__ import annotations

from core.access.masking.fold import skeleton

_GROUPS = """
олександр александр alexander aleksandr oleksandr alex xander саша сашко сашка саня шура alexandra александра
  олександра sasha олесь олександра санько шурик sashko
олексій алексей альоша лёша алеша леша alexey aleksei alexei alyosha олесь лесик льоша лёха льоха
анастасія анастасия настя настуся настенька anastasia nastya
анна ганна аня анечка анюта анька нюра ганнуся anna hanna ann anya annie нюта ганнуся анютка аннушка анечка
андрій андрей андрійко андрюша andrii andrey andrew andriy andy андрійчик андрюха
богдан богданчик бодя bohdan bogdan даня
валентина валя валюша валентинка valentina valya
валентин валя валік валик valentyn valentin
валерій валерий валера valery valerii
василь василий вася vasyl vasily vasya
вікторія виктория віка вика viktoria victoria vika vicky вікуся вікочка викуля
віктор виктор вітя витя viktor victor vitya
віра вера віронька верочка vira vera
володимир владимир вова володя вовчик volodymyr vladimir vova володька
галина галя halyna galina galya
григорій григорий гриша hryhorii grigory
дар'я дарія дарья даша дашка daria darya dasha дашенька дашуля дарина daryna
дмитро дмитрий діма дима дімон dmytro dmitri dmitry dima димко дімочка димочка дімон митя
євген евгений женя жека yevhen evgeny eugene zhenya женька євгенко женечка женёк женек
євгенія евгения yevheniia evgenia
катерина екатерина катя катруся катюша kateryna ekaterina katerina katya kate katie catherine катька катенька
  катруня катеринка
юрій юрий юра yurii yuri yura yuriy юрко юрчик юрочка
юлія юлия юля юлечка yuliia yulia julia yulya юлька юленька юляша
іван иван ваня івась ivan vanya іванко ванька ванечка івасик
ігор игорь ігорко ihor igor
ірина ирина іра ира іринка iryna irina ira іруся ірочка ирочка иринка ірка
костянтин константин костя kostiantyn konstantin kostya
ксенія ксения ксюша оксана ксеня kseniia ksenia oksana
лариса лара larysa larisa lara
лідія лидия ліда лида lidiia lidia lida
любов любовь люба liubov lyubov luba
людмила люда мила людочка liudmyla ludmila lyudmila luda людочка людка
марія мария маша маруся марічка mariia maria masha mary марійка машенька маруська
маргарита рита margarita marharyta rita margaret
марина маринка maryna marina
михайло михаил міша миша mykhailo mikhail misha мишка мишаня мишко михась michail
микола николай коля mykola nikolai kolya nicholas nick миколка колян
надія надежда надя nadiia nadezhda nadia nadya надійка наденька надюша
наталія наталя наталья наташа nataliia natalia natalya natasha наталка натуся наташенька ната
ольга оля оленька olha olga olya ольгуня оленька олечка
олена елена алена лена оленка леночка olena elena helen helena lena оленочка лєна оленочка еленочка
павло павел паша pavlo pavel pasha paul павлик пашка павлусь
петро петр пётр петя petro pyotr peter pete petya петрик петька
роман рома roman roma
світлана светлана света світланка svitlana svetlana sveta lana светочка світланка светик
сергій сергей серьожа серёжа сережа serhii sergey sergei seryozha serge серёга серега сергійко серж
софія софия соня sofiia sofia sophia sonya софійка сонька
тетяна татьяна таня танюша tetiana tatiana tanya танечка таня танька тетянка
тарас тарасик taras
федір федор федя fedir fyodor
яна янка yana jana
ярослав слава ярик yaroslav slava
michael mike mick mikey майкл майк
оксана оксанка оксаночка ксеня ксюша
руслан русік русик ruslan
стефанія стефания стефа stefania
геннадій геннадий гена hennadii gennady
аркадій аркадий аркаша arkadii arkady
зінаїда зинаида зіна зина zinaida zina
кристина крістіна христина кристя крістя khrystyna christina kristina
jacqueline jackie жаклін жаклин
frederick fred freddy freddie фредерік фредерик
nathaniel nathan nate nat натаніель натаниэль
robert bob rob bobby robbie роберт боб
william will bill billy willy liam уильям вільям уілл билл білл
richard rick dick richie річард ричард
james jim jimmy jamie джеймс джим
john johnny johnnie jack джон
george georgie джордж
георгій георгий heorhii georgy georgi
кузьма кузя kuzma
леся олеся леська lesia olesia
данило данила danylo данилко
кіра кира kira
максим макс max maxim maksym
гліб глеб hlib gleb
любомир любко lubomyr
інна інночка inna
thomas tom tommy томас том
edward ed eddie ted teddy эдвард едвард
anthony tony ентоні энтони тоні тони
daniel dan danny даніель даниэль деніел дэниел
david dave davy давид девід дэвид
joseph joe joey
charles charlie chuck чарльз чарлі чарли
christopher chris
benjamin ben benny
samuel sam sammy
matthew matt
steven stephen steve
gregory greg
douglas doug
kenneth ken kenny
donald don donny
ronald ron ronnie
jennifer jen jenny
elizabeth liz lizzie lizzy beth betty eliza
katherine kathy kat katie kate
patricia patty tricia
rebecca becky
susan sue susie
deborah debbie
"""
_BY_SOUND: dict[str, tuple[str, ...]] = {}
for _line in _GROUPS.strip().replace("\n  ", " ").splitlines():
    for _word in _line.split():
        _BY_SOUND[skeleton(_word)] = (*_BY_SOUND.get(skeleton(_word), ()), *_line.split())


def also_called(name: str) -> tuple[str, ...]:
    """Other names of the same group or groups, in any script; empty for one that is in none."""
    return tuple(dict.fromkeys(other for other in _BY_SOUND.get(skeleton(name), ()) if other != name))
