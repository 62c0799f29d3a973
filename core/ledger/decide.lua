-- ARGV: number of the last decision that the caller has seen, then per decision: change set, what is kept of it, body of its
-- event. Answers the number of the first event and the time, or 'changed' when somebody else has decided since.
local refused = refusal()
if refused then return refused end
local last = redis.call('HGET', keys.run, 'decided') or '0'
if last ~= ARGV[1] then return 'changed' end
local at = now()
local events = {}
for i = 4, #ARGV, 3 do
  events[#events + 1] = 0
  events[#events + 1] = ARGV[i]
end
last = emit(at, events)
local first = last - (#ARGV - 1) / 3 + 1
for i = 2, #ARGV, 3 do
  redis.call('HSET', keys.decisions, ARGV[i], text(first + (i - 2) / 3) .. ' ' .. text(at) .. ' ' .. ARGV[i + 1])
end
-- Older versions know neither the event nor what is kept.
need_schema(5)
redis.call('HSET', keys.run, 'decided', text(last))
return { 'first', text(first), 'at', text(at) }
