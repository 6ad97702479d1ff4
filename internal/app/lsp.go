package app

import (
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/tool/lsp"
)

// openLanguageServers returns the language servers without starting any. They run in a sandbox, and
// only in trusted directories.
func openLanguageServers(guard *policy.Safety) (*lsp.Servers, error) {
	user, err := LoadUser()
	if err != nil {
		return nil, err
	}
	table, err := LanguageServers(user)
	if err != nil {
		return nil, err
	}
	return &lsp.Servers{Table: table, Sandbox: guard.WrapServer, Enabled: guard.Trusted}, nil
}

// LanguageServers returns the built-in table of language servers with the user's configuration applied.
func LanguageServers(u config.User) ([]lsp.Spec, error) {
	entries := map[string]lsp.Entry{}
	for name, e := range u.LSP {
		entries[name] = lsp.Entry(e)
	}
	return lsp.Configure(lsp.Table(), entries)
}
