-- Commits: who made them, how far history was looked at, what a session was told of them.

-- Commits that a session made with its shell.
create table session_commits (
  sha text primary key,
  project_id text not null,
  session_id text not null,
  created_at text not null
);

-- Up to where the history of each branch was looked at, in each worktree.
create table head_cursors (
  project_id text not null,
  root text not null,
  branch text not null,                 -- empty: HEAD was detached
  sha text not null,
  seen_at text not null,
  lost_sha text,                        -- what was seen and is no longer part of it, until a session was told
  primary key (project_id, root, branch)
);

-- Commits that people made outside of sessions, until one was told of them and a while longer.
create table people_commits (
  id integer primary key,
  project_id text not null,
  root text not null,
  branch text not null,
  sha text not null,
  author text not null,
  subject text not null,
  committed_at text not null,
  files text not null,                  -- JSON: ["path", …]
  seen_at text not null,
  told_at text,
  told_session_id text,
  unique (project_id, sha)
);
create index idx_people_commits_root on people_commits(project_id, root, told_at);

-- The last commits of each worktree, and the files they changed, as they were when last looked at.
create table worktree_commits (
  project_id text not null,
  root text not null,
  sha text not null,                    -- what was checked out
  commits text not null,                -- JSON: [["sha", "date", "subject"], …]
  files text not null,                  -- JSON: ["path", …]
  seen_at text not null,
  primary key (project_id, root)
);
