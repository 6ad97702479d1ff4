package telemetry

// Attributes and labels. The names are OpenTelemetry's where it defines one.
const (
	keyOperation = "gen_ai.operation.name"
	keyProvider  = "gen_ai.provider.name"
	keyRequest   = "gen_ai.request.model"
	keyResponse  = "gen_ai.response.model"
	keyTokens    = "gen_ai.token.type"
	keyTool      = "gen_ai.tool.name"
	keyAgent     = "gen_ai.agent.name"
	keyError     = "error.type"
	keyRoute     = "http.route"
	keyStatus    = "http.response.status_code"
	keyCall      = "pawl.call.status"
	keyReason    = "pawl.turn.reason"
	keyTask      = "pawl.task.outcome"
	keyPassed    = "pawl.check.passed"
	keyMission   = "pawl.mission.state"
	keyKind      = "kind"
	keyResult    = "result"
)

// Names of the metrics.
const (
	metricTokens     = "gen_ai.client.token.usage"
	metricCall       = "gen_ai.client.operation.duration"
	metricFirst      = "gen_ai.client.operation.time_to_first_chunk"
	metricTurn       = "gen_ai.invoke_agent.duration"
	metricTool       = "gen_ai.execute_tool.duration"
	metricRequest    = "http.server.request.duration"
	metricModelCalls = "pawl.model.calls"
	metricModelRead  = "pawl.model.tokens"
	metricCost       = "pawl.model.cost.dollars"
	metricRetries    = "pawl.model.retries"
	metricToolCalls  = "pawl.tool.calls"
	metricDenials    = "pawl.tool.denials"
	metricTurns      = "pawl.turns"
	metricTasks      = "pawl.mission.tasks"
	metricChecks     = "pawl.mission.checks"
	metricMissions   = "pawl.missions"
	metricEvents     = "pawl.events"
	metricDropped    = "pawl.telemetry.dropped"
	metricStep       = "pawl.fleet.step.duration"
	metricSpace      = "pawl.fleet.workspace.duration"
	metricSpaceBytes = "pawl.fleet.workspace.size"
)

// Bucket bounds that the OpenTelemetry conventions recommend.
var (
	callBounds  = powers(0.01, 2, 14)
	tokenBounds = powers(1, 4, 14)
	httpBounds  = []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}
)

// families are the metrics derived from events and requests.
var families = []family{
	{name: metricTokens, help: "Tokens of a model call.", unit: "{token}", kind: histogram, bounds: tokenBounds,
		labels: []string{keyOperation, keyProvider, keyRequest, keyResponse, keyTokens}},
	{name: metricCall, help: "Duration of a model call, including retries.", unit: "s", kind: histogram, bounds: callBounds,
		labels: []string{keyOperation, keyProvider, keyRequest, keyResponse, keyError}},
	{name: metricFirst, help: "Time to the first chunk of a model call.", unit: "s", kind: histogram, bounds: callBounds,
		labels: []string{keyOperation, keyProvider, keyRequest}},
	{name: metricTurn, help: "Duration of a turn.", unit: "s", kind: histogram, bounds: powers(0.1, 2, 16), labels: []string{keyAgent, keyReason}},
	{name: metricTool, help: "Duration of a tool call.", unit: "s", kind: histogram, bounds: callBounds, labels: []string{keyTool}},
	{name: metricRequest, help: "Duration of a request to pawl serve.", unit: "s", kind: histogram, bounds: httpBounds, labels: []string{keyRoute, keyStatus}},
	{name: metricModelCalls, help: "Model calls that ended.", kind: counter, labels: []string{keyResponse, keyError}},
	{name: metricModelRead, help: "Tokens read and written by models.", kind: counter, labels: []string{keyResponse, keyTokens}},
	{name: metricCost, help: "Cost of models, in US dollars.", unit: "{USD}", kind: counter, labels: []string{keyResponse}},
	{name: metricRetries, help: "Model calls that failed and were retried.", kind: counter, labels: []string{keyRequest, keyError}},
	{name: metricToolCalls, help: "Tool calls that ended.", kind: counter, labels: []string{keyTool, keyCall}},
	{name: metricDenials, help: "Tool calls that were denied.", kind: counter, labels: []string{keyTool}},
	{name: metricTurns, help: "Turns that ended.", kind: counter, labels: []string{keyReason}},
	{name: metricTasks, help: "Attempts at mission tasks that ended, by result.", kind: counter, labels: []string{keyTask}},
	{name: metricChecks, help: "Mission checks that ran.", kind: counter, labels: []string{keyPassed}},
	{name: metricMissions, help: "Missions that were started, sealed or blocked.", kind: counter, labels: []string{keyMission}},
	{name: metricEvents, help: "Events appended to logs.", kind: counter, labels: []string{keyKind}},
	{name: metricStep, help: "Duration of a fleet step, by type and result.", unit: "s", kind: histogram, bounds: callBounds,
		labels: []string{keyKind, keyResult}},
	{name: metricSpace, help: "Duration of saving or restoring a workspace.", unit: "s", kind: histogram, bounds: callBounds, labels: []string{keyKind, keyResult}},
	{name: metricSpaceBytes, help: "Size of the workspaces that were saved or restored.", unit: "By", kind: counter, labels: []string{keyKind}},
	{name: metricDropped, help: "Spans and metrics that could not be sent.", kind: counter, labels: []string{keyKind}},
}
