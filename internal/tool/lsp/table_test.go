package lsp

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/security/trust"
)

var (
	specName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)
	fileEnd  = regexp.MustCompile(`^(\.[a-z]+|[A-Za-z]+(\.[a-z]+)?)$`)
)

// TestTable: each server is there once and has all that is needed to use it.
func TestTable(t *testing.T) {
	t.Parallel()
	seen, programs := map[string]bool{}, map[string]bool{}
	for _, s := range Table() {
		if !specName.MatchString(s.Name) || seen[s.Name] || programs[s.program()] {
			t.Errorf("%q is no name, or there twice", s.Name)
		}
		seen[s.Name], programs[s.program()] = true, true
		if s.Install == "" || len(s.Files) == 0 || strings.ContainsRune(s.program(), filepath.Separator) || s.Env != nil {
			t.Errorf("%s: it has no files, says not how to get it, or is no program on the search path", s.Name)
		}
		if s.Marked && len(s.Roots) == 0 {
			t.Errorf("%s: nothing can mark its projects", s.Name)
		}
		for end, id := range s.Files {
			if !fileEnd.MatchString(end) || id == "" || id != strings.TrimSpace(id) {
				t.Errorf("%s: %q has the language %q", s.Name, end, id)
			}
		}
		for _, list := range [][]string{s.Args, s.Reads, s.Roots} {
			if slices.Contains(list, "") || len(slices.Compact(slices.Sorted(slices.Values(list)))) != len(list) {
				t.Errorf("%s: %q has nothing in it, or something twice", s.Name, list)
			}
		}
		if i := slices.IndexFunc(s.Roots, func(root string) bool { return filepath.Base(root) != root }); i >= 0 {
			t.Errorf("%s: %q is no name of a file", s.Name, s.Roots[i])
		}
	}
	if len(seen) < 40 {
		t.Errorf("there are %d servers", len(seen))
	}
}

// TestGuideNamesTheTable: people can read which servers there are.
func TestGuideNamesTheTable(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../../docs/reference/diagnostics.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range Table() {
		if !strings.Contains(string(guide), "`"+s.Name+"`") {
			t.Errorf("docs/reference/diagnostics.md does not name %s", s.Name)
		}
	}
}

// TestServed: who is asked about which files, in which order.
func TestServed(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"edge/deno.json": "{}"})
	for path, want := range map[string]string{
		"a.go": "gopls", "go.mod": "gopls", "a.tsx": "typescript-language-server", "a.js": "typescript-language-server",
		"edge/a.ts": "deno typescript-language-server", "a.rs": "rust-analyzer", "a.cpp": "clangd", "a.h": "clangd",
		"a.py": "pyright-langserver basedpyright-langserver pylsp ruff", "a.zig": "zls", "A.java": "jdtls",
		"a.kt": "kotlin-language-server kotlin-lsp", "a.lua": "lua-language-server", "a.rb": "ruby-lsp solargraph", "Gemfile": "ruby-lsp solargraph",
		"a.php": "intelephense phpactor", "a.sh": "bash-language-server", "a.yml": "yaml-language-server",
		"a.json": "vscode-json-language-server", "a.css": "vscode-css-language-server", "a.html": "vscode-html-language-server",
		"a.ex": "elixir-ls", "a.hs": "haskell-language-server", "a.ml": "ocamllsp", "a.tf": "terraform-ls", "a.dart": "dart",
		"A.cs": "csharp-ls omnisharp", "a.swift": "sourcekit-lsp", "a.nix": "nixd nil", "a.svelte": "svelteserver", "a.vue": "vue-language-server",
		"a.gleam": "gleam", "Dockerfile": "docker-langserver", "a.txt": "", "go": "", "a": "",
	} {
		var got []string
		for _, s := range Table() {
			if s.serves(dir, filepath.Join(dir, path)) {
				got = append(got, s.Name)
			}
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

// TestTrustKnowsTheTable: a file that has a server work on a project, and so run
// what that project is built with, is reported before the directory is trusted, and is
// news in one that is.
func TestTrustKnowsTheTable(t *testing.T) {
	t.Parallel()
	for _, s := range Table() {
		for _, root := range s.Roots {
			dir := folder(t, map[string]string{root: ""})
			parts, err := trust.Survey(dir)
			if err != nil {
				t.Fatal(err)
			}
			known := slices.ContainsFunc(parts, func(p trust.Part) bool {
				return p.Kind == trust.KindLanguage && p.Path == root && p.Executable
			})
			if !known {
				t.Errorf("%s has %s work in a folder, and trust does not tell: add it to languages in internal/security/trust/survey.go", root, s.Name)
			}
		}
	}
}
