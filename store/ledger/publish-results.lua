-- KEYS: results stream, last published seq per run, usage of the project today. ARGV: run, project, stream length to keep
-- (about), seconds to keep the usage, (seq, operation, result, agent, turns, prompt tokens, completion tokens, duration in ms, proposed changes)…
local last = tonumber(redis.call('HGET', KEYS[2], ARGV[1]) or '0')
local published = 0
local figures = { 'turns', 'promptTokens', 'completionTokens', 'durationMs', 'proposed' }
for i = 5, #ARGV, 9 do
  local seq = tonumber(ARGV[i])
  if seq > last then
    redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[3], '*', 'run_id', ARGV[1], 'operation_id', ARGV[i + 1],
      'result', ARGV[i + 2], 'project_id', ARGV[2])
    local agent = ARGV[i + 3]
    redis.call('HINCRBY', KEYS[3], agent .. ' operations', 1)
    for at, name in ipairs(figures) do
      if ARGV[i + 3 + at] ~= '0' then redis.call('HINCRBY', KEYS[3], agent .. ' ' .. name, ARGV[i + 3 + at]) end
    end
    last = seq
    published = published + 1
  end
end
if published > 0 then redis.call('EXPIRE', KEYS[3], ARGV[4]) end
redis.call('HSET', KEYS[2], ARGV[1], string.format('%.0f', last))
return published
