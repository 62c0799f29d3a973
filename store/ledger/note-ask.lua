-- Further KEYS: asks. ARGV: field, what is kept in it, event age, event body.
-- Keeps what is asked, or how that ended, and its event, once: of two answers the first one counts. Also in a run that has ended.
local refused = refusal()
if refused then return refused end
local asks = KEYS[own_keys + 1]
if redis.call('HEXISTS', asks, ARGV[1]) == 1 then return 'known' end
local at = now()
local seq = emit(at, ARGV, 3)
redis.call('HSET', asks, ARGV[1], '{"seq":' .. text(seq) .. ',"at":' .. text(at) .. ',' .. string.sub(ARGV[2], 2))
return 'noted'
