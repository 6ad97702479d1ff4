package lsp

import "slices"

// Table returns the built-in servers. Of several for the same files, the first
// that is installed is used. None is ever downloaded.
func Table() []Spec {
	return slices.Concat(system(), scripting(), web(), managed(), functional(), files())
}

// stdio returns the arguments of most servers that are written in JavaScript.
func stdio() []string { return []string{"--stdio"} }

// system returns the servers of compiled languages.
func system() []Spec {
	return []Spec{
		{
			Name: "gopls", Files: map[string]string{".go": "go", "go.mod": "go.mod", "go.work": "go.work"},
			Reads: []string{"go.sum", "go.work.sum"}, Roots: []string{"go.work", "go.mod"},
			Install: "go install golang.org/x/tools/gopls@latest",
			Options: func(string) (any, error) { return goplsOptions, nil }, Settings: map[string]any{"gopls": goplsOptions},
			Always: true,
		},
		{
			Name: "rust-analyzer", Files: map[string]string{".rs": "rust"}, Reads: []string{"Cargo.toml", "Cargo.lock"},
			Roots: []string{"Cargo.lock", "Cargo.toml"}, Install: "rustup component add rust-analyzer",
		},
		{
			Name: "clangd",
			Files: map[string]string{
				".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".hxx": "cpp",
				".m": "objective-c", ".mm": "objective-cpp",
			},
			Reads: []string{"compile_commands.json", "compile_flags.txt"},
			Roots: []string{"compile_commands.json", "compile_flags.txt", ".clangd"}, Install: "apt install clangd, or from llvm.org",
		},
		{Name: "zls", Files: map[string]string{".zig": "zig", ".zon": "zig"}, Roots: []string{"build.zig"}, Install: "from github.com/zigtools/zls"},
		{
			Name: "sourcekit-lsp", Files: map[string]string{".swift": "swift"}, Reads: []string{"Package.resolved"},
			Roots: []string{"Package.swift"}, Install: "it comes with Swift: swift.org/install",
		},
		{
			Name: "dart", Args: []string{"language-server", "--protocol=lsp"}, Files: map[string]string{".dart": "dart"},
			Reads: []string{"pubspec.yaml", "pubspec.lock"}, Roots: []string{"pubspec.yaml"}, Install: "it comes with Dart: dart.dev/get-dart",
		},
	}
}

// scripting returns the servers of scripting languages.
func scripting() []Spec {
	python := map[string]string{".py": "python", ".pyi": "python"}
	pythonRoots := []string{"pyrightconfig.json", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"}
	ruby := map[string]string{".rb": "ruby", ".rake": "ruby", ".gemspec": "ruby", "Gemfile": "ruby", "Rakefile": "ruby"}
	php := map[string]string{".php": "php"}
	return []Spec{
		{
			Name: "pyright-langserver", Args: stdio(), Files: python, Reads: pythonRoots, Roots: pythonRoots,
			Install: "npm install -g pyright",
		},
		{
			Name: "basedpyright-langserver", Args: stdio(), Files: python, Reads: pythonRoots, Roots: pythonRoots,
			Install: "pip install basedpyright",
		},
		{Name: "pylsp", Files: python, Reads: pythonRoots, Roots: pythonRoots, Install: "pip install python-lsp-server"},
		{Name: "ruff", Args: []string{"server"}, Files: python, Reads: pythonRoots, Roots: pythonRoots, Install: "pip install ruff"},
		{Name: "ruby-lsp", Files: ruby, Reads: []string{"Gemfile.lock"}, Roots: []string{"Gemfile"}, Install: "gem install ruby-lsp"},
		{Name: "solargraph", Args: []string{"stdio"}, Files: ruby, Reads: []string{"Gemfile.lock"}, Roots: []string{"Gemfile"}, Install: "gem install solargraph"},
		{Name: "intelephense", Args: stdio(), Files: php, Reads: []string{"composer.json"}, Roots: []string{"composer.json"}, Install: "npm install -g intelephense"},
		{Name: "phpactor", Args: []string{"language-server"}, Files: php, Reads: []string{"composer.json"}, Roots: []string{"composer.json"}, Install: "from phpactor.readthedocs.io"},
		{Name: "lua-language-server", Files: map[string]string{".lua": "lua"}, Reads: []string{".luarc.json", ".luarc.jsonc"}, Roots: []string{".luarc.json", ".luarc.jsonc"}, Install: "from github.com/LuaLS/lua-language-server"},
		{Name: "bash-language-server", Args: []string{"start"}, Files: map[string]string{".sh": "shellscript", ".bash": "shellscript"}, Install: "npm install -g bash-language-server"},
		{Name: "fish-lsp", Args: []string{"start"}, Files: map[string]string{".fish": "fish"}, Install: "npm install -g fish-lsp"},
	}
}

// web returns the servers of web languages.
func web() []Spec {
	script := map[string]string{
		".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescriptreact",
		".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascriptreact",
	}
	style := map[string]string{".css": "css", ".scss": "scss", ".less": "less"}
	markup := map[string]string{".html": "html", ".htm": "html"}
	data := map[string]string{".json": "json", ".jsonc": "jsonc"}
	const vscode = "npm install -g vscode-langservers-extracted"
	return []Spec{
		{
			Name: "deno", Args: []string{"lsp"}, Files: script, Reads: []string{".json", ".jsonc", "deno.lock"},
			Roots: []string{"deno.json", "deno.jsonc"}, Marked: true, Install: "from docs.deno.com/runtime",
			Options: func(string) (any, error) { return map[string]any{"enable": true}, nil },
		},
		{
			Name: "typescript-language-server", Args: stdio(), Files: script,
			Reads: []string{".json"}, Roots: []string{"tsconfig.json", "jsconfig.json", "package.json"},
			Install: "npm install -g typescript-language-server typescript@5",
			Options: tsOptions, TSServer: true,
		},
		{
			Name: "svelteserver", Args: stdio(), Files: map[string]string{".svelte": "svelte"}, Reads: []string{".ts", ".js", ".json"},
			Roots: []string{"svelte.config.js", "svelte.config.ts", "package.json"}, Install: "npm install -g svelte-language-server",
		},
		{
			Name: "vue-language-server", Args: stdio(), Files: map[string]string{".vue": "vue"}, Reads: []string{".ts", ".js", ".json"},
			Roots: []string{"package.json"}, Install: "npm install -g @vue/language-server@2 typescript@5", Options: sdkOptions,
		},
		{
			Name: "astro-ls", Args: stdio(), Files: map[string]string{".astro": "astro"}, Reads: []string{".ts", ".js", ".json"},
			Roots: []string{"package.json"}, Install: "npm install -g @astrojs/language-server typescript@5", Options: sdkOptions,
		},
		{Name: "vscode-css-language-server", Args: stdio(), Files: style, Install: vscode},
		{Name: "vscode-html-language-server", Args: stdio(), Files: markup, Install: vscode},
		{Name: "vscode-json-language-server", Args: stdio(), Files: data, Install: vscode},
	}
}

// managed returns the servers of JVM and .NET languages.
func managed() []Spec {
	gradle := []string{"settings.gradle.kts", "settings.gradle", "build.gradle.kts", "build.gradle", "pom.xml"}
	kotlin := map[string]string{".kt": "kotlin", ".kts": "kotlin"}
	sharp := map[string]string{".cs": "csharp"}
	sharpRoots := []string{"global.json", "Directory.Build.props"}
	return []Spec{
		{Name: "jdtls", Files: map[string]string{".java": "java"}, Reads: gradle, Roots: gradle, Install: "from github.com/eclipse-jdtls/eclipse.jdt.ls"},
		{Name: "kotlin-language-server", Files: kotlin, Reads: gradle, Roots: gradle, Install: "from github.com/fwcd/kotlin-language-server"},
		{Name: "kotlin-lsp", Args: stdio(), Files: kotlin, Reads: gradle, Roots: gradle, Install: "from github.com/Kotlin/kotlin-lsp"},
		{Name: "metals", Files: map[string]string{".scala": "scala", ".sbt": "scala", ".sc": "scala"}, Reads: []string{"build.sbt", "build.mill"}, Roots: []string{"build.sbt", "build.mill", "build.sc"}, Install: "cs install metals"},
		{Name: "clojure-lsp", Files: map[string]string{".clj": "clojure", ".cljs": "clojure", ".cljc": "clojure", ".edn": "clojure"}, Roots: []string{"deps.edn", "project.clj", "shadow-cljs.edn"}, Install: "from clojure-lsp.io"},
		{Name: "csharp-ls", Files: sharp, Reads: []string{".csproj", ".sln"}, Roots: sharpRoots, Install: "dotnet tool install --global csharp-ls"},
		{Name: "omnisharp", Program: "OmniSharp", Args: []string{"-lsp"}, Files: sharp, Reads: []string{".csproj", ".sln"}, Roots: sharpRoots, Install: "from github.com/OmniSharp/omnisharp-roslyn"},
		{Name: "fsautocomplete", Args: []string{"--adaptive-lsp-server-enabled"}, Files: map[string]string{".fs": "fsharp", ".fsi": "fsharp", ".fsx": "fsharp"}, Reads: []string{".fsproj", ".sln"}, Roots: sharpRoots, Install: "dotnet tool install --global fsautocomplete"},
	}
}

// functional returns the servers of functional languages.
func functional() []Spec {
	return []Spec{
		{Name: "elixir-ls", Files: map[string]string{".ex": "elixir", ".exs": "elixir", ".heex": "phoenix-heex"}, Reads: []string{"mix.lock"}, Roots: []string{"mix.exs"}, Install: "from github.com/elixir-lsp/elixir-ls"},
		{Name: "erlang_ls", Files: map[string]string{".erl": "erlang", ".hrl": "erlang"}, Reads: []string{"rebar.lock"}, Roots: []string{"rebar.config", "erlang_ls.config"}, Install: "from github.com/erlang-ls/erlang_ls"},
		{Name: "gleam", Args: []string{"lsp"}, Files: map[string]string{".gleam": "gleam"}, Reads: []string{"gleam.toml", "manifest.toml"}, Roots: []string{"gleam.toml"}, Install: "it comes with Gleam: gleam.run"},
		{
			Name: "haskell-language-server", Program: "haskell-language-server-wrapper", Args: []string{"--lsp"},
			Files: map[string]string{".hs": "haskell", ".lhs": "literate haskell"}, Reads: []string{".cabal", "stack.yaml"},
			Roots: []string{"hie.yaml", "cabal.project", "stack.yaml", "package.yaml"}, Install: "ghcup install hls",
		},
		{Name: "ocamllsp", Files: map[string]string{".ml": "ocaml", ".mli": "ocaml.interface"}, Reads: []string{"dune"}, Roots: []string{"dune-workspace", "dune-project"}, Install: "opam install ocaml-lsp-server"},
		{Name: "elm-language-server", Files: map[string]string{".elm": "elm"}, Reads: []string{"elm.json"}, Roots: []string{"elm.json"}, Install: "npm install -g @elm-tooling/elm-language-server"},
	}
}

// files returns the servers of build, markup and configuration files.
func files() []Spec {
	nix := map[string]string{".nix": "nix"}
	return []Spec{
		{Name: "nixd", Files: nix, Roots: []string{"flake.nix"}, Install: "nix profile install nixpkgs#nixd"},
		{Name: "nil", Files: nix, Roots: []string{"flake.nix"}, Install: "nix profile install nixpkgs#nil"},
		{Name: "terraform-ls", Args: []string{"serve"}, Files: map[string]string{".tf": "terraform", ".tfvars": "terraform-vars"}, Reads: []string{".terraform.lock.hcl"}, Roots: []string{".terraform.lock.hcl"}, Install: "from github.com/hashicorp/terraform-ls"},
		{Name: "yaml-language-server", Args: stdio(), Files: map[string]string{".yaml": "yaml", ".yml": "yaml"}, Install: "npm install -g yaml-language-server"},
		{Name: "docker-langserver", Args: stdio(), Files: map[string]string{"Dockerfile": "dockerfile", ".dockerfile": "dockerfile"}, Install: "npm install -g dockerfile-language-server-nodejs"},
		{Name: "taplo", Args: []string{"lsp", "stdio"}, Files: map[string]string{".toml": "toml"}, Install: "cargo install taplo-cli --features lsp"},
		{Name: "tinymist", Files: map[string]string{".typ": "typst"}, Roots: []string{"typst.toml"}, Install: "cargo install tinymist"},
		{Name: "texlab", Files: map[string]string{".tex": "latex", ".bib": "bibtex"}, Roots: []string{".latexmkrc"}, Install: "cargo install texlab"},
		{Name: "buf", Args: []string{"lsp", "serve"}, Files: map[string]string{".proto": "proto"}, Reads: []string{"buf.yaml", "buf.lock"}, Roots: []string{"buf.work.yaml", "buf.yaml"}, Install: "from buf.build/docs/cli"},
	}
}
