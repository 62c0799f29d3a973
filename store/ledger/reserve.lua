-- Further KEYS: agenda, watch or asks; but for the agenda also the lease of who watches or answers. ARGV: the token that has claimed the step or
-- holds that lease; the most tokens that its next request may use, with what its answers have used that no commit has counted; 1 when it holds
-- them of its project's day by itself.
-- Reserves them in place of what it had reserved. Answers 'reserved'; 'full' when they do not fit beside what others have reserved, and
-- nothing is; 'lost' when the holder is somebody else's by now.
local refused = refusal()
if refused then return refused end
local holder, lease = KEYS[own_keys + 1], KEYS[own_keys + 2]
local held = redis.call('HMGET', holder, 'token', 'reserved')
if lease then held[1] = redis.call('GET', lease) end
if is_stopped() or held[1] ~= ARGV[1] then return 'lost' end
local wanted, room_left = tonumber(ARGV[2]), room(ARGV[3] == '1')
if room_left and room_left + tonumber(held[2] or '0') < wanted then
  reserve(holder, 0)
  return 'full'
end
reserve(holder, wanted)
redis.call('HDEL', keys.run, 'lacking')
return 'reserved'
