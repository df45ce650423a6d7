-- The vectors are read from the database, or from one file that a search makes of them.

drop trigger if exists search_changes_text;
drop trigger if exists search_changes_gone;
drop trigger if exists search_changes_standing;
drop trigger if exists search_changes_vector;
drop trigger if exists search_changes_other_vector;
drop trigger if exists search_changes_no_vector;
drop table if exists search_files;
drop table if exists search_changes;
delete from jobs where kind = 'index';

create index unified_memory_embeddings_by_model on unified_memory_embeddings (embedding_model, updated_at);
