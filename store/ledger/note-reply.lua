-- Further KEYS: agenda. ARGV: token, version, hash of the record of a reply that was received in this step, the tokens that it has used.
-- Whoever claims the step after this one has died goes on with it. Until a commit counts them, they stay reserved where there is a budget.
local refused = refusal()
if refused then return refused end
local agenda = KEYS[own_keys + 1]
local version = redis.call('HGET', keys.run, 'agenda_version') or '0'
if redis.call('HGET', agenda, 'token') ~= ARGV[1] or version ~= ARGV[2] then return 'lost' end
redis.call('HSET', agenda, 'reply', ARGV[3])
if redis.call('HEXISTS', agenda, 'reserved') == 1 then reserve(agenda, tonumber(ARGV[4])) end
return 'noted'
