-- When the client last said that it is about to compact a session: the start after that is a new
-- one, however soon it comes after another.

alter table sessions add column compacting_at text;
