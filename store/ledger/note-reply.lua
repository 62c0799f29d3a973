-- Further KEYS: agenda. ARGV: token, version, hash of the record of a reply that was received in this step. Whoever claims the step after
-- this one has died goes on with it.
local refused = refusal()
if refused then return refused end
local agenda = KEYS[own_keys + 1]
local version = redis.call('HGET', keys.run, 'agenda_version') or '0'
if redis.call('HGET', agenda, 'token') ~= ARGV[1] or version ~= ARGV[2] then return 'lost' end
redis.call('HSET', agenda, 'reply', ARGV[3])
return 'noted'
