-- What proved that a memory was used, beside the moment at which it was shown.
alter table recall_log add column evidence text;
create trigger recall_log_bd before delete on unified_memories begin
  update recall_log set evidence = null where memory_id = old.id;
end;
