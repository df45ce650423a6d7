-- What an AI was asked, and what hooks said: the figures behind `ademem cost`.

-- Questions to an AI: what for, whom, what it cost, how it ended; never what was said.
create table ai_calls (
  id integer primary key,
  project_id text not null,
  at text not null,
  purpose text not null,
  provider text not null,               -- claude | openai
  model text not null default '',       -- as the provider names it
  tokens_in integer not null default 0, -- caches included
  tokens_out integer not null default 0,
  cost real,                            -- US dollars; null: not told
  ms integer not null default 0,
  outcome text not null,                -- asked (nobody came back) | ok | invalid | refused | timeout | failed
  error text
);
create index idx_ai_calls_at on ai_calls(at);

-- How much hooks put before the model, a row an event and day.
create table hook_output (
  day text not null,                    -- of UTC
  event text not null,                  -- session_start, …
  answers integer not null,
  characters integer not null,
  primary key (day, event)
) without rowid;
