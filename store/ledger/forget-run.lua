-- Makes an ended run unknown to every other script and to readers, by deleting its schema. That write comes first:
-- Redis refuses a script for lack of memory at its first write only, and never a write that frees memory.
local schema = redis.call('HGET', keys.run, 'schema')
if not schema then return redis.call('EXISTS', keys.run) == 1 and 'forgetting' or 'unknown' end
if tonumber(schema) > known_schema then return 'newer' end
if not run_has_ended[redis.call('HGET', keys.run, 'status')] then return 'open' end
redis.call('HDEL', keys.run, 'schema')
redis.call('HSET', keys.run, 'forgetting', text(now()))
return 'forgetting'
