-- Near duplicates are found by the word indexes.
drop table unified_memory_signatures;
drop table unified_memory_unsigned;
