-- Further KEYS: asks, for an end also who answers now. ARGV: field, the token of who answers or '', event age, event body.
-- Writes what is asked, or how that ended, once, and keeps the number of that event: of two answers the first one counts. Also in a run that has
-- ended. What was reserved for the answer is settled by what the event says. Answers 'lost' when somebody else answers by now; 'full' where 50 are
-- kept.
local refused = refusal()
if refused then return refused end
local asks, answering = KEYS[own_keys + 1], KEYS[own_keys + 2]
if redis.call('HEXISTS', asks, ARGV[1]) == 1 then return 'known' end
if answering then
  if redis.call('GET', answering) ~= ARGV[2] then return 'lost' end
  reserve(asks, 0)
else
  local kept = 0
  for _, field in ipairs(redis.call('HKEYS', asks)) do
    if #field == #ARGV[1] then kept = kept + 1 end
  end
  if kept >= 50 then return 'full' end
end
redis.call('HSET', asks, ARGV[1], text(emit(now(), ARGV, 3)))
return 'noted'
