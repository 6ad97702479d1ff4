package pawl

func foldEvents(events []Event) (*History, error) { return Fold(SliceLog(events)) }
