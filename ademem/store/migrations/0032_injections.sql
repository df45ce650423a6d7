-- What was put before a model: each text with its size, and the memories in it.

-- Texts that hooks put before a model, as they were sent.
create table injections (
  id integer primary key,
  session_id text not null,
  agent_id text not null default '',
  prompt_id text not null default '',
  tool_use_id text not null default '',
  event text not null check (event in ('session_start', 'user_prompt_submit', 'pre_tool_use', 'post_tool_use_failure', 'subagent_start', 'pre_compact', 'stop')),
  created_at text not null check (created_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  characters integer not null check (typeof(characters) = 'integer' and characters >= 0),
  sha256 text not null,  -- of the text in UTF-8; '': the text was deleted
  text text  -- null: it has prompts that are not to be stored, or had a memory that was deleted for good
);
create index idx_injections_session on injections(session_id);

-- Memories in the texts for models, and memories that were left out of them.
create table injection_memories (
  injection_id integer not null references injections(id) on delete cascade,
  rank integer not null check (typeof(rank) = 'integer'),  -- in the order of the text
  memory_id text not null,
  revision integer not null check (typeof(revision) = 'integer'),
  section text not null default '',
  characters integer not null default 0 check (typeof(characters) = 'integer' and characters >= 0),
  used integer not null default 0 check (used in (0, 1)),
  left_out text not null default '' check (left_out in ('', 'room', 'limit', 'seen', 'own')),  -- why the text is without it
  primary key (injection_id, rank)
);
create index idx_injection_memories_memory on injection_memories(memory_id);

create trigger injections_bd before delete on unified_memories begin
  update injections set text = null, sha256 = '' where id in
    (select injection_id from injection_memories where memory_id = old.id and left_out = '');
end;
