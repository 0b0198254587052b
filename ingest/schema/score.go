package schema

// Score is the result of one eval task under one metric and filter.
type Score struct {
	Task      string
	Metric    string
	Filter    string // "" when the tool has none
	Value     Number // in the tool's own scale: most are fractions, some are not; never multiplied
	Stderr    Number
	N         int      // items scored; 0 when unknown
	Total     int      // items in the task; 0 when unknown
	Fewshot   *int     // nil when not stated
	Limit     *float64 // the tool's limit option: a count, or a fraction below 1; nil when none
	Direction string   // higher, lower or "" when not stated
	Version   string   // of the task
	Source    Source
	Unknown   Unknown
}
