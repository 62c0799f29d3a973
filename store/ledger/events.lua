-- The second part: writing the run's events.

-- The name of an event and, where it is the answer of a model, the tokens in and out that it has cost, for its body. A body begins with the
-- name. Inside a text the quotes are escaped, so that these cannot match there.
local function name_of(body)
  return string.match(body, '^{"e":"([%l_.]+)"')
end

local function tokens_of(body)
  local prompt, completion = string.match(body, '"prompt_tokens":(%d+)'), string.match(body, '"completion_tokens":(%d+)')
  return tonumber(prompt or '0'), tonumber(completion or '0')
end

-- All tokens that the run has used.
local function used_tokens()
  local used = redis.call('HMGET', keys.run, 'tokens_in', 'tokens_out')
  return tonumber(used[1] or '0') + tonumber(used[2] or '0')
end

-- What the budget of an item has left, nil without one, and what is reserved of it.
local function room_of(item)
  local own = redis.call('HMGET', keys.items, item .. ':budget', item .. ':used', item .. ':reserved')
  local reserved = tonumber(own[3] or '0')
  return own[1] and tonumber(own[1]) - tonumber(own[2] or '0') - reserved or nil, reserved
end

-- How many tokens may be reserved now: what the budget of the run, and its part of its project's day, have left; nil without a budget.
-- What is reserved counts as used until the answer says what was. `beside_day`: it takes nothing of that part.
local function room(beside_day)
  local run = redis.call('HMGET', keys.run, 'budget', 'granted', 'returned', 'reserved')
  local limit = tonumber(run[1] or '')
  if run[2] and not beside_day then
    local of_day = tonumber(run[2]) - tonumber(run[3] or '0')
    limit = math.min(limit or of_day, of_day)
  end
  return limit and limit - used_tokens() - tonumber(run[4] or '0')
end

-- Gives back what the run was granted of its project's day and neither uses nor has reserved, but for `keep` tokens. `granted` and
-- `returned` only grow: whoever reads an older value of either in the other slot takes the run to have more than it has (budgets.ts).
local function return_room(keep)
  local run = redis.call('HMGET', keys.run, 'granted', 'returned', 'reserved')
  local spare = run[1] and tonumber(run[1]) - tonumber(run[2] or '0') - used_tokens() - tonumber(run[3] or '0') - keep
  if spare and spare > 0 then redis.call('HINCRBY', keys.run, 'returned', text(spare)) end
end

-- Sets what an operation, the conductor's step or the watch has reserved for its next request, or the one under way; 0 gives it back.
-- `holder`: the key of that.
local function reserve(holder, tokens)
  local fields = redis.call('HMGET', holder, 'reserved', 'item')
  local before = tonumber(fields[1] or '0')
  if before == tokens then return end
  if tokens == 0 then
    redis.call('HDEL', holder, 'reserved')
  else
    redis.call('HSET', holder, 'reserved', text(tokens))
  end
  redis.call('HINCRBY', keys.run, 'reserved', text(tokens - before))
  if fields[2] then redis.call('HINCRBY', keys.items, fields[2] .. ':reserved', text(tokens - before)) end
end

-- Adds to what the present ten seconds have had. They take the place of those of 70 s ago.
local function keep_pace(at, ended, tokens_in, tokens_out)
  local begun = at - at % 10000
  local slot = text(begun / 10000 % 7)
  local had = { string.match(redis.call('HGET', keys.pace, slot) or '', '^(%d+) (%d+) (%d+) (%d+)$') }
  if had[1] ~= text(begun) then had = { 0, 0, 0, 0 } end
  local figures = { text(begun), text(had[2] + ended), text(had[3] + tokens_in), text(had[4] + tokens_out) }
  redis.call('HSET', keys.pace, slot, table.concat(figures, ' '))
end

-- Those whose tokens count: what a model has answered to an operation, to the conductor, to the watcher, or to who asks about the run.
local is_answer = {
  ['model.responded'] = true, ['agenda.decided'] = true, ['conductor.decided'] = true, ['objective.refined'] = true,
  ['conductor.failed'] = true, ['watcher.reviewed'] = true, ['watcher.failed'] = true, ['ask.answered'] = true, ['ask.failed'] = true,
}

-- The number of the last event that this command has written; nil without any. Whether one of them is the answer of a model, and the
-- tokens of such answers that are not counted for an item.
local told, has_answer, answered = nil, false, 0

-- Lets those who follow the run know that there are new events, once for each command (script.ts). It is only a hint.
local function tell()
  if told then redis.call('PUBLISH', namespace .. ':told', run_id .. ' ' .. text(told)) end
end

-- Events that others write, of which only the ledger knows what they follow from.
local is_effect = {
  ['operation.failed'] = true, ['operation.blocked'] = true, ['operation.ended'] = true, ['operations.repeated'] = true,
  ['run.reopened'] = true, ['item.started'] = true, ['publication.opened'] = true, ['publication.updated'] = true, ['publication.failed'] = true,
}

-- Those that say what was decided about an agenda, and what somebody has added: whoever looks back at them does not read all that the run has.
local is_of_agenda = {
  ['agenda.decided'] = 'decision', ['conductor.decided'] = 'decision', ['objective.refined'] = 'decision', ['plan.approved'] = 'decision',
  ['objective.extended'] = 'words',
}

-- Appends events, a flat list of age in ms and body that begins at `first` (by default 1), and returns the number of the last
-- one; nil without any. `cause`: the number of the event that the effects among them follow from, if they do. What they count for counts in the same step: how many of each name there are, what answers of models have cost, the pace.
local function emit(at, events, first, cause)
  first = first or 1
  local count = (#events - first + 1) / 2
  if count == 0 then return nil end
  local times, tokens_in, tokens_out, besides, composed, decided = {}, 0, 0, 0, nil, {}
  for i = first + 1, #events, 2 do
    local name = name_of(events[i])
    times[name] = (times[name] or 0) + 1
    if name == 'run.composed' then composed = (i - first - 1) / 2 + 1 end
    if is_of_agenda[name] then decided[#decided + 1] = { place = (i - first - 1) / 2 + 1, is = is_of_agenda[name] } end
    if is_answer[name] then
      has_answer = true
      local prompt, completion = tokens_of(events[i])
      tokens_in, tokens_out = tokens_in + prompt, tokens_out + completion
      if name ~= 'model.responded' then besides = besides + prompt + completion end
    end
  end
  for name, number in pairs(times) do redis.call('HINCRBY', keys.tally, name, number) end
  if tokens_in > 0 then redis.call('HINCRBY', keys.run, 'tokens_in', text(tokens_in)) end
  if tokens_out > 0 then redis.call('HINCRBY', keys.run, 'tokens_out', text(tokens_out)) end
  if besides > 0 then redis.call('HINCRBY', keys.run, 'tokens_besides', text(besides)) end
  local ended = times['operation.ended'] or 0
  if ended + tokens_in + tokens_out > 0 then keep_pace(at, ended, tokens_in, tokens_out) end
  answered = answered + tokens_in + tokens_out
  told = redis.call('HINCRBY', keys.run, 'seq', count)
  if composed then redis.call('HSET', keys.run, 'composed', text(told - count + composed)) end
  for _, one in ipairs(decided) do
    local before, seq = redis.call('HGET', keys.run, 'decided_in'), text(told - count + one.place)
    redis.call('HSET', keys.run, 'decided_in', (before and before .. ' ' or '') .. seq)
    if one.is == 'decision' then redis.call('HSET', keys.run, 'decided_by', seq) end
  end
  for i = 1, count do
    local age, body = first + 2 * i - 2, events[first + 2 * i - 1]
    if cause and is_effect[name_of(body)] then body = '{"c":' .. text(tonumber(cause)) .. ',' .. string.sub(body, 2) end
    redis.call('XADD', keys.events, text(told - count + i) .. '-0', 'm', text(at - tonumber(events[age])), 'j', body)
  end
  return told
end

-- Counts what this command's answers have used for the item of their operation, if it has one.
local function spend_of(item)
  if item and answered > 0 then redis.call('HINCRBY', keys.items, item .. ':used', text(answered)) end
  answered = 0
end

-- The body of an event that the ledger itself reports, in the short names of stored-events.ts. `operation` has the event's cause, too, and
-- the item of the agenda that it is of.
local function body_of(name, origin, operation, data)
  local status = nil
  if data.error_code then status = 'error' end
  if operation.item then data.item_id = operation.item end
  local body = cjson.encode({
    p = 'execution', c = tonumber(operation.cause or ''), s = status, k = origin[1], i = origin[2], x = data.error_code,
    o = operation.id, n = operation.node, a = operation.bundle, g = tonumber(operation.generation), j = data, r = operation.payload,
  })
  return '{"e":"' .. name .. '",' .. string.sub(body, 2)
end

-- What an event's body says of its operation, and the number of the last event of its way, from which the next one follows.
local function described(id)
  local fields = redis.call('HMGET', prefix .. 'op:' .. id, 'nid', 'bundle', 'gen', 'cause', 'item')
  return {
    id = id, node = fields[1], bundle = fields[2], generation = fields[3] or nil, cause = fields[4] or nil, item = fields[5] or nil,
  }
end

-- Notes the number of the last event of the operation's way.
local function follow(id, seq)
  redis.call('HSET', prefix .. 'op:' .. id, 'cause', text(seq))
end

-- Reports an event of the operation, which follows from the one before. `payload` names stored data that it has besides.
local function report(id, name, origin, data, at, payload)
  local operation = described(id)
  operation.payload = payload
  follow(id, emit(at, { 0, body_of(name, origin, operation, data) }))
end

-- Adds the path and the name of the operation's node to `data`, for people who read the events.
local function with_node(id, data)
  local node = cjson.decode(redis.call('GET', prefix .. 'node:' .. id))
  data.path = node.path
  data.qualified_name = node.qualifiedName
  return data
end
