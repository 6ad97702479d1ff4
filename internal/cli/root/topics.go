package root

import (
	_ "embed" // for the texts
)

// topic is a text that 'pawl help' prints.
type topic struct{ name, short, text string }

//go:embed topics/modes.txt
var modesText string

//go:embed topics/models.txt
var modelsText string

//go:embed topics/sandbox.txt
var sandboxText string

//go:embed topics/exit-codes.txt
var exitCodesText string

//go:embed topics/environment.txt
var environmentText string

// topics are the help topics of pawl.
var topics = []topic{
	{"modes", "Explain the permission modes", modesText},
	{"models", "Explain how to name and choose a model", modelsText},
	{"sandbox", "Explain what commands of an agent can do", sandboxText},
	{"exit-codes", "List the exit codes", exitCodesText},
	{"environment", "List the environment variables", environmentText},
}
