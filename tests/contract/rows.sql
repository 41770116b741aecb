truncate later, people, pets, pairs, keyless, vectors, tickets, parted, "Odd Name", hidden, closed, half_open restart identity cascade;
insert into people values
  (1, 'Ada', 'countess', 36, 9.50, true, '1815-12-10', '2026-01-01 10:00+00', '{math,poetry}',
   '{"city": "London", "langs": ["en", "fr"], "deep": {"x": 1}, "n": 5}', '[1,5)', to_tsvector('english', 'engine notes')),
  (2, 'Bob', null, 17, 5.00, false, '2009-05-01', '2026-01-02 10:00+00', '{chess}',
   '{"city": "Kyiv", "langs": [], "n": 7}', '[5,9)', to_tsvector('english', 'chess club')),
  (3, 'Eve, "the" spy', 'e*e', null, null, null, null, null, null, null, null, null),
  (4, 'Zoë (real)', '50%', 50, -1.25, true, '1976-02-29', '2026-01-03 12:30+02', '{math,"a b"}',
   '{"city": "Paris", "n": 5}', '[20,30)', to_tsvector('english', 'running engines')),
  (5, 'back\slash', 'under_score', 64, 0.00, false, '1962-01-01', '2026-01-04 00:00+00', '{}', '[]', 'empty',
   to_tsvector('english', 'nothing'));
insert into pets (owner_id, name, kind, status, weight, meta) values
  (1, 'Tom', 'cat', 'new', 4, '{"a": 1}'), (1, 'Rex', 'dog', 'new', 20, null), (2, 'Ola', 'dog', 'old', 12, '{"a": 2}');
insert into pairs values (1, 1, 'one'), (1, 2, 'two');
insert into many select generate_series(1, 2500) on conflict do nothing;
insert into vectors values (1, '[1,0,0]'), (2, '[0,1,0]'), (3, '[0.9,0.1,0]');
insert into parted values (1, '2026-05-01', 'old');
insert into "Odd Name" values (1, 2, 3, 'так', 'q');
insert into hidden values (1, 'seen by nobody but service_role');
insert into closed values (1);
insert into half_open values (1, 'yes', 'no');
