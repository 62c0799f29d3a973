-- ARGV: command, who takes it. Answers when the result of the run's present generation was taken and by whom, and 'own' when it
-- was by this command; 'open' before the run has ended.
local refused = refusal()
if refused then return refused end
local run = redis.call('HMGET', keys.run, 'status', 'taken')
if not run_has_ended[run[1]] then return 'open' end
local generation = generation_of_run()
local taken = run[2] and cjson.decode(run[2])
if not taken or taken.generation ~= generation then
  taken = { generation = generation, command = ARGV[1], by = ARGV[2], at = now() }
  redis.call('HSET', keys.run, 'taken', cjson.encode(taken))
end
return { 'at', text(taken.at), 'by', taken.by, 'own', taken.command == ARGV[1] and 1 or 0 }
