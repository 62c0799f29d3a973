-- KEYS: ranges of the events of all runs, position behind the last range trimmed by project. ARGV: how many ranges are kept
-- at most, time in ms before which the others go that every group has acknowledged, how many go at most.
-- Trims the oldest ranges, never the last one, and returns how many. What was trimmed is noted in the same step, since Redis
-- does not say that there was something between a range that is gone and the first one that is left.
local function parts(id)
  local ms, number = string.match(id, '^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(number)
end
local function is_before(left, right)
  local ms, number = parts(left)
  local other_ms, other = parts(right)
  return ms < other_ms or (ms == other_ms and number < other)
end

local length = redis.call('XLEN', KEYS[1])
local count, surplus = math.min(tonumber(ARGV[3]), length - 1), length - tonumber(ARGV[1])
if count < 1 then return 0 end
local before = ARGV[2] .. '-0'
for _, group in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  local of = {}
  for i = 1, #group, 2 do of[group[i]] = group[i + 1] end
  local ms, number = parts(of['last-delivered-id'])
  local first = of.pending > 0 and redis.call('XPENDING', KEYS[1], of.name)[2] or ms .. '-' .. (number + 1)
  if is_before(first, before) then before = first end
end
local gone, trimmed = {}, 0
for i, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', count)) do
  local id, fields = entry[1], entry[2]
  if i > surplus and not is_before(id, before) then break end
  -- Of its fields these are the project and the number of its last event.
  gone[fields[2]] = id .. '.' .. fields[8]
  trimmed = i
end
-- First, since Redis never refuses what frees memory, nor what a script writes after that.
if trimmed > 0 then redis.call('XTRIM', KEYS[1], 'MAXLEN', '=', length - trimmed) end
for project, position in pairs(gone) do redis.call('HSET', KEYS[2], project, position) end
return trimmed
