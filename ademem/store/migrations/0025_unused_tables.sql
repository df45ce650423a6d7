-- Tables that nothing has ever written or read: those for exchange with other machines, the table of
-- memories before unified_memories, and an index of the words of prompts.

drop table sync_mutations;
drop table sync_state;
drop table sync_chunks;
drop table sync_apply_deferred;
drop table memories;
drop trigger prompts_fts_ai;
drop trigger prompts_fts_bd;
drop trigger prompts_fts_au;
drop table prompts_fts;
