package decode

// Limits bounds the resources that one input may use. All limits of reading are here and in the constants below;
// links and devices are handled by the walk and have no limit.
type Limits struct {
	Bytes   int64 // of one plain file
	Packed  int64 // of the content of one compressed file, or of one member of an archive
	Text    int64 // how much of a file that is not JSON is read
	Pieces  int64 // a longer file of JSON lines is read in pieces; 0 for never
	Depth   int   // nesting of arrays and objects
	Values  int   // top-level values in one file (lines of a JSON Lines file)
	Results int   // points and scores of one file
	Members int   // files in one archive, including archives within it
	Total   int64 // content of all members of one archive
	Nesting int   // archives within archives
}

// maxNodes bounds the tree of one value; lists of objects beyond [eager] elements are not part of it. Arrays of
// numbers are bounded by the size of the text instead.
const maxNodes = 500_000

// freeNumbers is how many numbers any value may hold; beyond, it is one for every eight bytes of its file.
const freeNumbers = 1 << 20

// maxRatio bounds the ratio of compressed content to its packed size.
const maxRatio = 200

// freeExpansion is the size to which any compressed content may expand, whatever its ratio.
const freeExpansion = 16 << 20

// maxFaults is how many damaged values of a file are skipped before the rest is not read.
const maxFaults = 100

// maxYAML bounds a YAML file: the parser needs two hundred times its size in memory.
const maxYAML = 1 << 20

// Bounds of what is kept of one file.
const (
	MostSeries       = 200       // metrics and filters of one eval task
	MostItems        = 1_000_000 // items of one eval task
	MostTitles       = 5_000     // titles of a store that are kept decoded
	MostProblems     = 1_000     // problems of one file
	MostBeforeResult = 100       // values before the first result of a file
	LongestMember    = 1_024     // bytes of the name of an archive's member
	MostOfUnpacker   = 64 << 20  // memory for zstd's window
)

// DefaultLimits is generous for result files (the largest known is 34 MB, nested 9 deep) and small for a machine: any
// 64 MB of input is read within 256 MB of memory.
func DefaultLimits() Limits {
	return Limits{
		Bytes: 1 << 30, Packed: 128 << 20, Text: 16 << 20, Pieces: 16 << 20, Depth: 100, Values: 5_000_000, Results: 20_000,
		Members: 30_000, Total: 4 << 30, Nesting: 3,
	}
}
