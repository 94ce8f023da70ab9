-- What wrk sends. `plan`, with the steps of a flow, stands above, written by tests/bench/generators.py.
--
-- wrk does not say which connection an answer came on, so each request carries its place in its flow as its request id,
-- which the service echoes. What the answer of one step leads to is sent before new flows are begun.

local begun, waiting, first, last = 0, {}, 1, 0
local threads = {}
unexpected, example = 0, ""

function setup(thread)
   table.insert(threads, thread)
end

local function filled(parts, values)
   local made = {}
   for index, part in ipairs(parts) do
      made[index] = values[part] or part
   end
   return table.concat(made)
end

local function following()
   if first > last then
      begun = begun + 1
      return {flow = begun, step = 1, kept = ""}
   end
   local turn = waiting[first]
   waiting[first] = nil
   first = first + 1
   return turn
end

function request()
   local turn = following()
   local step = plan.steps[turn.step]
   local values = {["@number@"] = plan.tag .. turn.flow, ["@kept@"] = turn.kept}
   local body = filled(step.body, values)
   return table.concat {
      "POST ", filled(step.path, values), " HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n",
      "Authorization: Bearer ", step.keys[turn.flow % #step.keys + 1], "\r\n",
      "X-Request-ID: ", turn.flow, ".", turn.step, ".", turn.kept, "\r\n",
      "Content-Length: ", #body, "\r\n\r\n", body,
   }
end

local function kept_of(step, body, before)
   local _, ends = body:find(step.keeps, 1, true)
   return step.keeps == "" and before or body:match('^[^"]+', ends + 1)
end

function response(status, headers, body)
   local flow, number, kept = headers["x-request-id"]:match("^(%d+)%.(%d+)%.(.*)$")
   number = tonumber(number)
   local step = plan.steps[number]
   if not body:find(step.expects, 1, true) then
      unexpected = unexpected + 1
      example = status .. " " .. body
   elseif plan.steps[number + 1] then
      last = last + 1
      waiting[last] = {flow = tonumber(flow), step = number + 1, kept = kept_of(step, body, kept)}
   end
end

function done(summary, latency, requests)
   local wrong, shown = 0, ""
   for _, thread in ipairs(threads) do
      wrong = wrong + thread:get("unexpected")
      shown = shown .. thread:get("example")
   end
   local errors = summary.errors
   local lost = errors.connect + errors.read + errors.write + errors.timeout
   io.write(string.format(
      "\nMEASURED %.6f %d %.3f %.3f %d %d %s\n", summary.duration / 1e6, summary.requests,
      latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, wrong, lost, shown:gsub("%s+", " ")
   ))
end
