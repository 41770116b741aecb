"""What people with a name are called by those who know them. A short table of the usual ones, and no rule: a pet name
that nobody wrote here is not known, and is not masked."""

from __future__ import annotations

from core.access.masking.fold import skeleton

_GROUPS = """
олександр александр alexander aleksandr oleksandr alex саша сашко сашка саня шура alexandra александра олександра sasha
олексій алексей альоша лёша алеша леша alexey aleksei alexei alyosha
анастасія анастасия настя настуся настенька anastasia nastya
анна ганна аня анечка анюта анька нюра ганнуся anna hanna ann anya annie
андрій андрей андрійко андрюша andrii andrey andrew andriy andy
богдан богданчик bohdan bogdan даня
валентина валя валюша valentina valya
валерій валерий валера valery valerii
василь василий вася vasyl vasily vasya
вікторія виктория віка вика viktoria victoria vika vicky
віктор виктор вітя витя viktor victor vitya
віра вера віронька верочка vira vera
володимир владимир вова володя вовчик volodymyr vladimir vova
галина галя halyna galina galya
григорій григорий гриша hryhorii grigory
дар'я дарія дарья даша дашка daria darya dasha
дмитро дмитрий діма дима дімон dmytro dmitri dmitry dima
євген евгений женя жека yevhen evgeny eugene zhenya
євгенія евгения yevheniia evgenia
катерина екатерина катя катруся катюша kateryna ekaterina katerina katya kate katie catherine
юрій юрий юра yurii yuri yura george
юлія юлия юля юлечка yuliia yulia julia yulya
іван иван ваня івась ivan vanya john
ігор игорь ігорко ihor igor
ірина ирина іра ира іринка iryna irina ira
костянтин константин костя kostiantyn konstantin kostya
ксенія ксения ксюша оксана ксеня kseniia ksenia oksana
лариса лара larysa larisa lara
лідія лидия ліда лида lidiia lidia lida
любов любовь люба liubov lyubov luba
людмила люда мила людочка liudmyla ludmila lyudmila luda
марія мария маша маруся марічка mariia maria masha mary
маргарита рита margarita marharyta rita margaret
марина маринка maryna marina
михайло михаил міша миша mykhailo mikhail misha michael mike
микола николай коля mykola nikolai kolya nicholas nick
надія надежда надя nadiia nadezhda nadia nadya
наталія наталя наталья наташа nataliia natalia natalya natasha
ольга оля оленька olha olga olya
олена елена алена лена оленка леночка olena elena helen lena
павло павел паша pavlo pavel pasha paul
петро петр пётр петя petro pyotr peter pete petya
роман рома roman roma
світлана светлана света світланка svitlana svetlana sveta lana
сергій сергей серьожа серёжа сережа serhii sergey sergei seryozha serge
софія софия соня sofiia sofia sophia sonya
тетяна татьяна таня танюша tetiana tatiana tanya
тарас тарасик taras
федір федор федя fedir fyodor
яна янка yana jana
ярослав слава ярик yaroslav slava
robert bob rob bobby robbie
william will bill billy willy liam
richard rick dick richie
james jim jimmy jamie
thomas tom tommy
edward ed eddie ted teddy
anthony tony
daniel dan danny
david dave davy
joseph joe joey
charles charlie chuck
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
elizabeth liz lizzie beth betty eliza
katherine kathy kat
patricia patty tricia
rebecca becky
susan sue susie
deborah debbie
"""
_BY_SOUND: dict[str, tuple[str, ...]] = {}
for _line in _GROUPS.strip().splitlines():
    for _word in _line.split():
        _BY_SOUND[skeleton(_word)] = (*_BY_SOUND.get(skeleton(_word), ()), *_line.split())


def also_called(name: str) -> tuple[str, ...]:
    """Other names of the same group or groups, in any script; empty for one that is in none."""
    return tuple(dict.fromkeys(other for other in _BY_SOUND.get(skeleton(name), ()) if other != name))
