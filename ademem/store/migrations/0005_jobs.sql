-- Work that is due; a job is done when its row is gone.
create table jobs (
  id integer primary key,
  project_id text not null,
  kind text not null,                   -- embed | mirror | episode | relate | …
  key text not null,                    -- what it is about; one waiting job a key
  due_at text not null,
  asked integer not null default 1,     -- how often since it is waiting
  attempts integer not null default 0,
  last_error text,
  parked_at text,                       -- gave up; doctor names it
  created_at text not null,
  unique (project_id, kind, key)
);
create index idx_jobs_due on jobs(due_at) where parked_at is null;
