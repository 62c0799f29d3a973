-- KEYS: ranges of the events of all runs, number of the last event told by run. ARGV: project, run, number of its last event,
-- channel and notice of the project's events.
-- Adds the run's events that were not told to the ranges, 1,000 at most to each, which is a page of the API, and returns how many
-- these are.
local last, seq = tonumber(redis.call('HGET', KEYS[2], ARGV[2]) or '0'), tonumber(ARGV[3])
if seq <= last then return 0 end
for first = last + 1, seq, 1000 do
  local from, to = string.format('%.0f', first), string.format('%.0f', math.min(seq, first + 999))
  redis.call('XADD', KEYS[1], '*', 'project', ARGV[1], 'run', ARGV[2], 'first', from, 'last', to)
end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
redis.call('PUBLISH', ARGV[4], ARGV[5])
return seq - last
