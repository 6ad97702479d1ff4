package api

import (
	"encoding/json"

	"github.com/pawl-dev/pawl/manage"
)

// Providers is the response of listProviders.
type Providers struct {
	Providers []manage.Provider `json:"providers"`
}

// ConfigValue is the body of setConfigValue.
type ConfigValue struct {
	Key   string          `json:"key"`   // such as permissions.mode, or /a/b if a part has a dot
	Value json.RawMessage `json:"value"` // null removes the key
	Hash  string          `json:"hash"`  // of the configuration file that was read
}

// ConfigHash is the hash of the configuration file after a change.
type ConfigHash struct {
	Hash string `json:"hash"`
}

// ProviderKey is the body of setKey.
type ProviderKey struct {
	Key string `json:"key"`
}

// RuleChange is the body of addRule and removeRule.
type RuleChange struct {
	Rule manage.Rule `json:"rule"`
	Hash string      `json:"hash"` // of the configuration file that was read
}

// ServerChange is the body of setServer.
type ServerChange struct {
	Enabled bool   `json:"enabled"`
	Hash    string `json:"hash"` // of the configuration file that was read
}

const (
	managed  = "/v1/manage"
	provider = managed + "/providers/{provider}/key"
)

// manageRoutes are the routes of manage.Service. They are for the user who runs the server.
var manageRoutes = []Route{
	one[Empty, manage.Config]("getConfig", "GET", managed+"/config", "Get the effective configuration, with the origin of each value.", ScopeAdmin, manageDir),
	one[ConfigValue, ConfigHash]("setConfigValue", "PATCH", managed+"/config", "Set or remove a value in the configuration file of the user who runs the server.", ScopeAdmin),
	one[Empty, Providers]("listProviders", "GET", managed+"/providers", "List the providers of models and web search, and which have an API key.", ScopeRead),
	one[ProviderKey, manage.Provider]("setKey", "PUT", provider, "Save a provider's API key.", ScopeAdmin),
	one[Empty, manage.Provider]("deleteKey", "DELETE", provider, "Delete a provider's saved API key.", ScopeAdmin),
	one[Empty, manage.KeyTest]("testKey", "POST", provider+"/test", "Test a provider's API key with a small request.", ScopeAdmin),
	one[Empty, manage.Permissions]("getPermissions", "GET", managed+"/permissions", "Get the permission rules and saved answers for a directory.", ScopeRead, projectDir),
	one[RuleChange, ConfigHash]("addRule", "POST", managed+"/permissions/rules", "Add a permission rule of the user.", ScopeAdmin).with(created),
	one[RuleChange, ConfigHash]("removeRule", "POST", managed+"/permissions/rules/remove", "Remove a permission rule of the user.", ScopeAdmin),
	one[Empty, Empty]("revokeAnswer", "DELETE", managed+"/permissions/answers/{answer}", "Revoke a saved answer, so that Pawl asks again.", ScopeAdmin),
	one[Empty, manage.Extensions]("listExtensions", "GET", managed+"/extensions", "List the agents, commands, skills, hooks, MCP servers, rules and language servers of a directory.", ScopeRead, projectDir),
	one[ServerChange, ConfigHash]("setServer", "PATCH", managed+"/mcp/{server}", "Enable or disable an MCP server of the user.", ScopeAdmin),
	one[Empty, ConfigHash]("removeServer", "DELETE", managed+"/mcp/{server}", "Remove an MCP server of the user, and its login.", ScopeAdmin,
		Param{"hash", "string", "the hash of the configuration file that was read"}),
}

var manageDir = Param{"dir", "string", "the absolute path of a project's directory; without it, projects are left out"}
