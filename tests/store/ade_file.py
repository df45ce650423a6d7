"""Databases as ADE leaves them: written by its code, and as its documents describe it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

STAMP = "2026-01-10T08:00:00.000Z"

CODE = """
create table projects (
  id text primary key not null, root_path text not null default '', display_name text not null
  default '', default_base_ref text not null default '', created_at text not null default '',
  last_opened_at text not null default ''
);
create table unified_memories (
  id text primary key not null, project_id text, scope text, scope_owner_id text, tier,
  category text, content, importance text, confidence, observation_count, status text,
  source_type text, source_id text, source_session_id text, source_pack_key text,
  source_run_id text, file_scope_pattern text, agent_id text, pinned, access_score, composite_score,
  write_gate_reason text, dedupe_key text, created_at, updated_at, last_accessed_at, access_count,
  promoted_at
);
create index idx_unified_memories_project_scope_tier on unified_memories(project_id, scope, tier);
create index idx_unified_memories_scope_owner
  on unified_memories(project_id, scope, scope_owner_id);
create index idx_unified_memories_project_status on unified_memories(project_id, status);
create index idx_unified_memories_project_pinned on unified_memories(project_id, pinned, tier);
create index idx_unified_memories_project_accessed
  on unified_memories(project_id, last_accessed_at);
create index idx_unified_memories_project_dedupe
  on unified_memories(project_id, scope, scope_owner_id, dedupe_key);
create virtual table unified_memories_fts using fts4(content="unified_memories", content);
create trigger unified_memories_fts_ai after insert on unified_memories begin
  insert into unified_memories_fts(docid, content) values (new.rowid, new.content);
end;
create trigger unified_memories_fts_bd before delete on unified_memories begin
  delete from unified_memories_fts where docid = old.rowid;
end;
create trigger unified_memories_fts_bu before update on unified_memories begin
  delete from unified_memories_fts where docid = old.rowid;
end;
create trigger unified_memories_fts_au after update on unified_memories begin
  insert into unified_memories_fts(docid, content) values (new.rowid, new.content);
end;
create table unified_memory_embeddings (
  id text primary key not null, memory_id text, project_id text, embedding_model text,
  embedding_blob blob, dimensions integer, norm real, created_at text, updated_at text
);
create index idx_unified_memory_embeddings_memory on unified_memory_embeddings(memory_id);
create table memory_procedure_details (
  memory_id text primary key not null, trigger text, procedure_markdown text,
  success_count integer, failure_count integer, last_used_at text, exported_skill_path text,
  exported_at text, superseded_by_memory_id text, created_at text, updated_at text
);
create table memory_procedure_sources (
  procedure_memory_id text, episode_memory_id text, created_at text not null default '',
  primary key (procedure_memory_id, episode_memory_id)
);
create table memory_procedure_history (
  id text primary key not null, procedure_memory_id text, confidence real, outcome text,
  reason text, recorded_at text
);
create table memory_skill_index (
  id text primary key not null, path text, kind text, source text, memory_id text,
  content_hash text, last_modified_at text, archived_at text, created_at text, updated_at text
);
create table memory_capture_ledger (
  id text primary key not null, project_id text, source_type text, source_key text,
  memory_id text, episode_memory_id text, metadata_json text, created_at text, updated_at text
);
create table memory_sweep_log (
  sweep_id text primary key not null, project_id text, trigger_reason text, started_at text,
  completed_at text, entries_decayed integer, entries_demoted integer, entries_promoted integer,
  entries_archived integer, entries_orphaned integer, duration_ms integer
);
create table memory_consolidation_log (
  consolidation_id text primary key not null, project_id text, trigger_reason text,
  started_at text, completed_at text, clusters_found integer, entries_merged integer,
  entries_created integer, tokens_used integer, duration_ms integer
);
create table cto_core_memory_state (
  project_id text primary key not null, version integer, payload_json text, updated_at text
);
create table agent_identities (
  id text primary key not null, project_id text, name text, profile_json text, persona_json text,
  tool_policy_json text, user_preferences_json text, heartbeat_json text, model_preference text,
  created_at text, updated_at text
);
create table memories (
  id text primary key not null, project_id text, scope text, category text, content text,
  importance text, source_session_id text, source_pack_key text, status text, agent_id text,
  confidence real, promoted_at text, source_run_id text, created_at text, last_accessed_at text,
  access_count integer
);
create table missions (
  id text primary key, project_id text not null references projects(id), title text
);
create index idx_missions_project on missions(project_id);
create trigger missions_titled after insert on missions when new.title is null begin
  update missions set title = 'untitled' where id = new.id;
end;
create table sessions (token text primary key, expires integer);
"""

DOCUMENTS = """
create table projects (
  id text primary key, root_path text, display_name text, default_base_ref text,
  created_at text, last_opened_at text
);
create table unified_memories (
  id text primary key,
  project_id text not null,
  scope text not null,
  scope_owner_id text,
  tier integer not null default 2,
  category text not null,
  content text not null,
  importance text not null default 'medium',
  confidence real not null default 1.0,
  observation_count integer not null default 1,
  status text not null default 'promoted',
  source_type text not null default 'agent',
  source_id text,
  source_session_id text,
  source_pack_key text,
  source_run_id text,
  file_scope_pattern text,
  agent_id text,
  pinned integer not null default 0,
  access_score real not null default 0,
  composite_score real not null default 0,
  write_gate_reason text,
  dedupe_key text not null default '',
  created_at text not null,
  updated_at text not null,
  last_accessed_at text not null,
  access_count integer not null default 0,
  promoted_at text,
  foreign key(project_id) references projects(id)
);
create index idx_unified_memories_project_scope_tier
  on unified_memories(project_id, scope, tier);
create index idx_unified_memories_scope_owner
  on unified_memories(project_id, scope, scope_owner_id);
create index idx_unified_memories_project_status
  on unified_memories(project_id, status);
create index idx_unified_memories_project_pinned
  on unified_memories(project_id, pinned, tier);
create index idx_unified_memories_project_accessed
  on unified_memories(project_id, last_accessed_at);
create index idx_unified_memories_project_dedupe
  on unified_memories(project_id, scope, scope_owner_id, dedupe_key);
create table unified_memory_embeddings (
  id text primary key,
  memory_id text not null,
  project_id text not null,
  embedding_model text not null,
  embedding_blob blob not null,
  dimensions integer not null,
  norm real,
  created_at text not null,
  updated_at text not null,
  foreign key(memory_id) references unified_memories(id),
  foreign key(project_id) references projects(id)
);
create table memory_procedure_details (
  memory_id text primary key,
  trigger text not null,
  procedure_markdown text not null,
  success_count integer not null default 0,
  failure_count integer not null default 0,
  last_used_at text,
  exported_skill_path text,
  exported_at text,
  superseded_by_memory_id text,
  created_at text not null,
  updated_at text not null
);
create table memory_procedure_sources (
  procedure_memory_id text not null,
  episode_memory_id text not null,
  created_at text not null,
  primary key (procedure_memory_id, episode_memory_id)
);
create table memory_procedure_history (
  id text primary key,
  procedure_memory_id text not null,
  confidence real not null,
  outcome text not null,
  reason text,
  recorded_at text not null
);
create table memory_skill_index (
  id text primary key,
  path text not null,
  kind text not null,
  source text not null,
  memory_id text,
  content_hash text not null,
  last_modified_at text,
  archived_at text,
  created_at text not null,
  updated_at text not null
);
create table memory_capture_ledger (
  id text primary key,
  project_id text not null,
  source_type text not null,
  source_key text not null,
  memory_id text,
  episode_memory_id text,
  metadata_json text,
  created_at text not null,
  updated_at text not null
);
create table memory_sweep_log (
  id text primary key,
  project_id text not null,
  started_at text not null,
  ended_at text,
  trigger text not null
);
create table memory_consolidation_log (
  id text primary key,
  project_id text not null,
  started_at text not null,
  ended_at text,
  trigger text not null
);
create table cto_core_memory_state (
  project_id text primary key,
  version integer not null,
  payload_json text not null,
  updated_at text not null
);
create table agent_identities (
  id text primary key,
  project_id text not null,
  name text not null,
  profile_json text not null default '{}',
  persona_json text not null default '{}',
  tool_policy_json text not null default '{}',
  user_preferences_json text not null default '{}',
  heartbeat_json text,
  model_preference text,
  created_at text not null,
  updated_at text not null
);
create table memories (
  id text primary key,
  project_id text not null,
  scope text not null,
  category text not null,
  content text not null,
  importance text default 'medium',
  source_session_id text,
  source_pack_key text,
  status text default 'promoted',
  agent_id text,
  confidence real default 1.0,
  promoted_at text,
  source_run_id text,
  created_at text not null,
  last_accessed_at text not null,
  access_count integer default 0
);
create virtual table unified_memories_fts using fts5(content, content=unified_memories);
create trigger unified_memories_fts_ai after insert on unified_memories begin
  insert into unified_memories_fts(rowid, content) values (new.rowid, new.content);
end;
"""
"""As ADE's documents write it, with the table of projects to which its keys refer."""

PROJECT = {
    "id": "atlas",
    "root_path": "/srv/atlas",
    "display_name": "Atlas",
    "default_base_ref": "main",
    "created_at": STAMP,
    "last_opened_at": STAMP,
}


def build(root: Path, ddl: str = CODE, **rows: list[dict[str, Any]]) -> Path:
    """A project folder with such a database in it; where that is."""
    path = root / ".ade" / "ade.db"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as db, db:
        fill(db, ddl, **rows)
    return path


def fill(db: sqlite3.Connection, ddl: str = CODE, **rows: list[dict[str, Any]]) -> None:
    """These rows a table, and one project unless told otherwise."""
    db.executescript(ddl)
    for table, given in ({"projects": [PROJECT]} | rows).items():
        for row in given:
            marks = ", ".join("?" * len(row))
            db.execute(
                f"insert into {table} ({', '.join(row)}) values ({marks})", tuple(row.values())
            )


def memory(id: str, content: Any = "", **changes: Any) -> dict[str, Any]:
    """A row of `unified_memories` as ADE writes it."""
    return {
        "id": id,
        "project_id": "atlas",
        "scope": "project",
        "scope_owner_id": None,
        "tier": 2,
        "category": "fact",
        "content": content or f"what {id} says",
        "importance": "medium",
        "confidence": 0.9,
        "observation_count": 1,
        "status": "promoted",
        "source_type": "agent",
        "pinned": 0,
        "access_score": 0.25,
        "composite_score": 0.5,
        "dedupe_key": str(content or f"what {id} says").lower(),
        "created_at": STAMP,
        "updated_at": STAMP,
        "last_accessed_at": STAMP,
        "access_count": 4,
    } | changes


def legacy(id: str, **changes: Any) -> dict[str, Any]:
    """A row of `memories`, the table before."""
    return {
        "id": id,
        "project_id": "atlas",
        "scope": "project",
        "category": "fact",
        "content": f"what {id} says",
        "created_at": STAMP,
        "last_accessed_at": STAMP,
    } | changes


def embedding(id: str, memory_id: str, **changes: Any) -> dict[str, Any]:
    return {
        "id": id,
        "memory_id": memory_id,
        "project_id": "atlas",
        "embedding_model": "MiniLM",
        "embedding_blob": b"\x00\x00\x80\x3f",
        "dimensions": 1,
        "norm": 1.0,
        "created_at": STAMP,
        "updated_at": STAMP,
    } | changes
