-- How the words of a memory fall on places, beside each of its signatures: most of those that share
-- one have little else in common, and need not be read to know. Null: the words have to be compared.

alter table unified_memory_signatures add column sketch integer;
