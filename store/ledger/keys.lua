-- The first part of every script of a run: the run's keys, its clock, and whether this code may touch it.
-- KEYS[1..own_keys] are the run's own keys, in the order of keys.ts; a script's further keys follow. All of them share
-- the run's hash tag. The keys of single operations (op:<O>, node:<O>, after:<O>, talk:<O>) are derived here for the steps that
-- find out by themselves which operations they reach (decision record 4).
local own_keys = 28
local keys = {
  run = KEYS[1], events = KEYS[2], operations = KEYS[3], ready = KEYS[4], leases = KEYS[5],
  ended = KEYS[6], outbox = KEYS[7], cascade = KEYS[8], commands = KEYS[9],
  delayed = KEYS[10], dispatched = KEYS[11], suspects = KEYS[12], waiting = KEYS[13],
  questions = KEYS[14], failed = KEYS[15], blocked = KEYS[16], failures = KEYS[17],
  held = KEYS[18], change_sets = KEYS[19], verdicts = KEYS[20], built_on = KEYS[21],
  reported = KEYS[22], tally = KEYS[23], doing = KEYS[24], pace = KEYS[25], past = KEYS[26],
  items = KEYS[27], inbox = KEYS[28],
}
local prefix = string.sub(KEYS[1], 1, -4)
local namespace, run_id = string.match(prefix, '^(.*):{(.*)}:$')
local known_schema = 1
local run_has_ended = { completed = true, blocked = true, failed = true, cancelled = true }

-- A whole number in digits: Lua itself writes large ones with an exponent.
local function text(number)
  return string.format('%.0f', number)
end

-- Milliseconds since the epoch, by this server's clock.
local function now()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- How often the work of the run was planned: 1 at first, and one more with every reopening and every repeat of what
-- collided. Whoever plans more, or ends the run, names the generation that they have seen, so that a run ends at most
-- once in each.
local function generation_of_run()
  return tonumber(redis.call('HGET', keys.run, 'generation') or '1')
end

-- 'unknown' or 'newer' when this code must not touch the run, else nil.
local function refusal()
  local schema = redis.call('HGET', keys.run, 'schema')
  if not schema then return 'unknown' end
  if tonumber(schema) > known_schema then return 'newer' end
  return nil
end

-- True for a run that is being stopped, and for one that has ended. `run`: its fields, if they were read before, these
-- first.
local function is_stopped(run)
  run = run or redis.call('HMGET', keys.run, 'cancel', 'status')
  return run[1] == '1' or run_has_ended[run[2]] == true
end
