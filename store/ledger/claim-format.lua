-- KEYS: the mark, then keys of which a store that was used has one. ARGV: the format of who asks. Marks an empty store. Answers the
-- format of the store, or 'unmarked' for one that was used without a mark.
local found = redis.call('GET', KEYS[1])
if found then return found end
for i = 2, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then return 'unmarked' end
end
redis.call('SET', KEYS[1], ARGV[1])
return ARGV[1]
