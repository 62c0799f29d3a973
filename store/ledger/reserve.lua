-- Further KEYS: agenda, watch or asks; with asks, who answers now. ARGV: the token that has claimed the step or answers, or '' for the watch;
-- the version that the next state of the watch has, or '';
-- the most tokens that its next request may use, with what its answers have used that no commit has counted; 1 when it holds them of its
-- project's day by itself.
-- Reserves them in place of what it had reserved. Answers 'reserved'; 'full' when they do not fit beside what others have reserved, and
-- nothing is; 'lost' when the holder is somebody else's by now.
local refused = refusal()
if refused then return refused end
local holder = KEYS[own_keys + 1]
local held = redis.call('HMGET', holder, 'token', 'version', 'reserved')
local answering = KEYS[own_keys + 2]
if answering then held[1] = redis.call('GET', answering) end
local is_own = ARGV[1] == held[1] or ARGV[1] == '' and tonumber(held[2] or '0') + 1 == tonumber(ARGV[2])
if is_stopped() or not is_own then return 'lost' end
local wanted, room_left = tonumber(ARGV[3]), room(ARGV[4] == '1')
if room_left and room_left + tonumber(held[3] or '0') < wanted then
  reserve(holder, 0)
  return 'full'
end
reserve(holder, wanted)
redis.call('HDEL', keys.run, 'lacking')
return 'reserved'
