//go:build sectest

package security

import "github.com/pawl-dev/pawl"

// rowsJ is about authority in data: in files that are imported, in
// sessions that others have left, and in tokens.
var rowsJ = []row{
	{id: "J1", title: "import: a turn that is open in the file is resumed", attack: importsWork(openTurn), defense: "import.close,import.settings"},
	{id: "J2", title: "import: a prompt that is queued in the file runs", attack: importsWork(queuedPrompt), defense: "import.close,import.settings"},
	{id: "J3", title: "import: a shell command that is pending in the file runs", attack: importsWork(pendingShell), defense: "import.close"},
	{id: "J4", title: "import: the file says that the mode was changed to yolo", attack: importsAMode(pawl.ModeChanged{Mode: "yolo"}), defense: "import.kinds"},
	{id: "J5", title: "import: a prompt in the file has the mode yolo", attack: importsAMode(), defense: "import.settings"},
	{id: "J6", title: "import: the session goes on with a scripted model that the file names", attack: importsAModel, defense: "import.settings"},
	{id: "J7", title: "import: the file names the directory that the session works in", attack: importsAPlace, defense: "import.place"},
	{id: "J8", title: "import: the file makes the session a subagent of another one", attack: importsAParent, defense: "import.place"},
	{id: "J9", title: "import: the file starts a mission whose checks are commands", attack: importsAMission, defense: "import.kinds"},
	{id: "J10", title: "import: an undo restores files from snapshots that the file names", attack: importsSnapshots, defense: "import.snapshots"},
	{id: "J11", title: "import: values that a newer version might obey", attack: importsUnknownValues, defense: "import.values"},
	{id: "J12", title: "import: costs below zero, and ones that overflow, make a budget endless", attack: importsMoney, defense: "import.usage"},
	{id: "J13", title: "import: the file says that another user ran a command", attack: importsAnAuthor, defense: "import.author"},

	{id: "J14", title: "token: run steers a turn that an admin left open in mode yolo", attack: takesPart(steersYolo), defense: "access.open,access.run"},
	{id: "J15", title: "token: run rewords a prompt that an admin queued in mode yolo", attack: takesPart(rewordsYolo), defense: "access.open,access.run"},
	{id: "J16", title: "token: run sends a command to a session that an admin left in mode yolo", attack: takesPart(commandsYolo), defense: "access.open,access.run"},
	{id: "J17", title: "token: run forks such a session and sends a command to the fork", attack: takesPart(forksYolo), defense: "access.open,access.run"},
	{id: "J18", title: "token: run resumes a turn that was interrupted in mode yolo", attack: resumesYolo, defense: "access.open"},
	{id: "J19", title: "token: run allows what its own work is asked for", attack: answersItself, defense: "access.answer"},
	{id: "J20", title: "token: run names a mode that asks nobody", attack: namesAMode, defense: "server.settings"},
	{id: "J21", title: "token: run names no mode where the default is yolo", attack: namesNoMode, defense: "access.mode,access.run"},
	{id: "J22", title: "token: run starts a mission that works in mode yolo", attack: startsAMission, defense: "server.settings"},
	{id: "J23", title: "token: a scripted model reads any file of the server, and its error shows it", attack: readsByScript, defense: "access.script"},
	{id: "J24", title: "token: a script of the project names another that is outside", attack: readsByChild, defense: "script.child"},
	{id: "J25", title: "token: run goes on with the scripted model that the session has", attack: goesOnWithScript, defense: "access.script"},

	{id: "J26", title: "server: sessions of directories that it is not for are shown and run", attack: readsElsewhere, defense: "server.dirs"},
	{id: "J27", title: "server: the directory of a session becomes a link that leads out of --dir", attack: swapsItsDirectory, defense: "server.dirs"},

	{id: "J28", title: "server: large bodies of one token, all at once, take all memory", attack: fillsMemory, defense: "server.bodies"},
	{id: "J29", title: "server: one token sends requests without end", attack: asksTooOften, defense: "server.rate"},
}
