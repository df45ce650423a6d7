-- The page has no map of the vectors any more: a request for it would wait for ever.
delete from jobs where kind = 'map';
