-- ARGV: reason, error code or '', origin kind, origin id, '1' when what runs may finish, else '0', then the phases in which the run
-- is stopped; none: any. A later stop that lets nothing finish counts for what still runs. No answer
-- from before has the run try again what failed.
local refused = refusal()
if refused then return refused end
local run = redis.call('HMGET', keys.run, 'status', 'cancel', 'phase', 'let_finish')
if run_has_ended[run[1]] then return 'ended' end
local applies = #ARGV == 5
for i = 6, #ARGV do applies = applies or ARGV[i] == run[3] end
if applies then redis.call('HDEL', keys.run, 'wants_retry') end
if run[2] == '1' then
  if applies and run[4] == '1' and ARGV[5] == '0' then stop_run({ 'let_finish', '0' }) end
  return 'stopping'
end
if not applies then return 'elsewhere' end
stop_run({ 'cancel_reason', ARGV[1], 'cancel_code', ARGV[2], 'cancel_by', ARGV[3] .. '/' .. ARGV[4], 'let_finish', ARGV[5] })
return 'stopping'
