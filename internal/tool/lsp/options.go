package lsp

import (
	"errors"
	"os"
	"path/filepath"
)

// goplsOptions are how gopls is set. Its delay is for people who type.
var goplsOptions = map[string]any{"diagnosticsDelay": "0s"}

// tsOptions makes the server use the TypeScript that is installed beside it,
// not the one of the project: a repository must not bring the program that is
// run. Types are not fetched from the network.
func tsOptions(program string) (any, error) {
	lib, err := typeScript(program)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"disableAutomaticTypingAcquisition": true,
		"tsserver":                          map[string]any{"path": filepath.Join(lib, "tsserver.js"), "useClientFileWatcher": true, "useSyntaxServer": "never"},
	}, nil
}

// sdkOptions is the same for servers of files that have TypeScript in them.
func sdkOptions(program string) (any, error) {
	lib, err := typeScript(program)
	if err != nil {
		return nil, err
	}
	return map[string]any{"typescript": map[string]any{"tsdk": lib}, "vue": map[string]any{"hybridMode": false}}, nil
}

// typeScript returns the directory of the TypeScript that is installed beside a
// program of node's: …/node_modules/typescript/lib.
func typeScript(program string) (string, error) {
	real, err := filepath.EvalSymlinks(program) // …/node_modules/typescript-language-server/lib/cli.mjs
	if err != nil {
		return "", err
	}
	modules := filepath.Dir(real)
	for filepath.Base(modules) != "node_modules" && modules != filepath.Dir(modules) {
		modules = filepath.Dir(modules)
	}
	lib := filepath.Join(modules, "typescript", "lib")
	if _, err := os.Stat(filepath.Join(lib, "tsserver.js")); err != nil {
		return "", errors.New("there is no TypeScript 5 beside it: npm install -g typescript@5")
	}
	return lib, nil
}
