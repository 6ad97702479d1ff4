package acp

// Messages of the protocol's schema 1.21.0, where the SDK, which was generated from
// schema 0.13.0, has none or an older form. session/fork is not stable yet: it is in
// the schema's unstable part.

// Methods that the SDK does not know.
const methodSessionDelete = "session/delete"

// Codes of errors.
const (
	codeInvalidParams = -32602
	codeInternal      = -32603
	codeNotFound      = -32002
	codeAuthRequired  = -32000
)

// none is an object without fields: a capability, or an empty response.
type none struct{}

// initializeRequest is the part of the request that matters: what pawl may use of the
// editor.
type initializeRequest struct {
	ClientCapabilities struct {
		Fs struct {
			ReadTextFile bool `json:"readTextFile"`
		} `json:"fs"`
		Auth struct {
			Terminal bool `json:"terminal"`
		} `json:"auth"`
		Elicitation struct {
			Form *none `json:"form"`
		} `json:"elicitation"`
	} `json:"clientCapabilities"`
}

type initializeResponse struct {
	ProtocolVersion   int            `json:"protocolVersion"`
	AgentInfo         implementation `json:"agentInfo"`
	AgentCapabilities capabilities   `json:"agentCapabilities"`
	AuthMethods       []authMethod   `json:"authMethods"`
}

type implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Version string `json:"version"`
}

// capabilities are what pawl supports.
type capabilities struct {
	LoadSession        bool `json:"loadSession"`
	PromptCapabilities struct {
		Image           bool `json:"image"`
		EmbeddedContext bool `json:"embeddedContext"`
	} `json:"promptCapabilities"`
	MCPCapabilities struct {
		HTTP bool `json:"http"`
		SSE  bool `json:"sse"`
	} `json:"mcpCapabilities"`
	SessionCapabilities struct {
		List                  none `json:"list"`
		Delete                none `json:"delete"`
		AdditionalDirectories none `json:"additionalDirectories"`
		Fork                  none `json:"fork"`
		Resume                none `json:"resume"`
		Close                 none `json:"close"`
	} `json:"sessionCapabilities"`
}

// authMethod lets the user log in: the editor runs its command for pawl in a terminal,
// with further arguments.
type authMethod struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Type        string   `json:"type"`
	Args        []string `json:"args"`
}

// sessionRequest names a session.
type sessionRequest struct {
	SessionID string `json:"sessionId"`
}

// sessionResponse is the state of a session that was opened.
type sessionResponse struct {
	SessionID     string         `json:"sessionId,omitempty"` // of a new one
	Modes         modeState      `json:"modes"`               // for editors that do not support options
	ConfigOptions []configOption `json:"configOptions"`
}

type modeState struct {
	CurrentModeID  string        `json:"currentModeId"`
	AvailableModes []sessionMode `json:"availableModes"`
}

type sessionMode struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// configOption is a setting of a session that the user chooses from a list.
type configOption struct {
	ID           string         `json:"id"`
	Name         string         `json:"name"`
	Description  string         `json:"description,omitempty"`
	Category     string         `json:"category"`
	Type         string         `json:"type"`
	CurrentValue string         `json:"currentValue"`
	Options      []configValue  `json:"options"`
	Meta         map[string]any `json:"_meta,omitempty"`
}

type configValue struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

type setOptionRequest struct {
	SessionID string `json:"sessionId"`
	ConfigID  string `json:"configId"`
	Value     any    `json:"value"`
}

type optionsResponse struct {
	ConfigOptions []configOption `json:"configOptions"`
}

// optionsUpdate is a session/update notification about options.
type optionsUpdate struct {
	SessionUpdate string         `json:"sessionUpdate"`
	ConfigOptions []configOption `json:"configOptions"`
}

// notification is the parameters of session/update.
type notification struct {
	SessionID string `json:"sessionId"`
	Update    any    `json:"update"`
}

// elicitationRequest asks the user to fill in a form.
type elicitationRequest struct {
	SessionID       string     `json:"sessionId"`
	ToolCallID      string     `json:"toolCallId,omitempty"`
	Mode            string     `json:"mode"`
	Message         string     `json:"message"`
	RequestedSchema formSchema `json:"requestedSchema"`
}

type formSchema struct {
	Type       string               `json:"type"`
	Properties map[string]formField `json:"properties"`
	Required   []string             `json:"required"`
}

// formField is a text, a choice (OneOf) or, with the type array, a choice of several
// (Items).
type formField struct {
	Type        string       `json:"type"`
	Title       string       `json:"title,omitempty"`
	Description string       `json:"description,omitempty"`
	OneOf       []formOption `json:"oneOf,omitempty"`
	Items       *formItems   `json:"items,omitempty"`
	MinItems    int          `json:"minItems,omitempty"`
}

type formItems struct {
	AnyOf []formOption `json:"anyOf"`
}

type formOption struct {
	Const       string `json:"const"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
}

type elicitationResponse struct {
	Action  string         `json:"action"` // "accept" if the user has filled in the form
	Content map[string]any `json:"content"`
}
