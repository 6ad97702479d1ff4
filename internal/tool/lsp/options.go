package lsp

import (
	"errors"
	"os"
	"path/filepath"
)

// goplsOptions disables gopls's delay, which is for people who type.
var goplsOptions = map[string]any{"diagnosticsDelay": "0s"}

// tsOptions makes the server use the TypeScript that is installed with it, not
// that of the project: a repository must not supply a program that is run. It
// disables the download of types.
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

// sdkOptions is tsOptions for servers of files that contain TypeScript.
func sdkOptions(program string) (any, error) {
	lib, err := typeScript(program)
	if err != nil {
		return nil, err
	}
	return map[string]any{"typescript": map[string]any{"tsdk": lib}, "vue": map[string]any{"hybridMode": false}}, nil
}

// typeScript returns the TypeScript directory that is installed with a node
// program: …/node_modules/typescript/lib.
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
		return "", errors.New("TypeScript 5 not found: run npm install -g typescript@5")
	}
	return lib, nil
}
