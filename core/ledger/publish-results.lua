-- KEYS: results stream, last published seq per run. ARGV: run, project, stream length to keep (about), (seq, operation,
-- result)…
local last = tonumber(redis.call('HGET', KEYS[2], ARGV[1]) or '0')
local published = 0
for i = 4, #ARGV, 3 do
  local seq = tonumber(ARGV[i])
  if seq > last then
    redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[3], '*', 'run_id', ARGV[1], 'operation_id', ARGV[i + 1],
      'result', ARGV[i + 2], 'project_id', ARGV[2])
    last = seq
    published = published + 1
  end
end
redis.call('HSET', KEYS[2], ARGV[1], string.format('%.0f', last))
return published
