// Package rows writes the report's data for programs: CSV for spreadsheets and scripts, Parquet for engines that query
// more than fits a site, JSON documents, and formats of others (standard.go). It is the only importer of gocsv, which
// it uses for writing only (reading with it loses data silently), and of parquet-go.
//
// In go columns, verdicts, comparisons and the view of a decision; out go bytes. Each kind of row is one struct, whose
// tags say what it is called in each format and which formats have it. Numbers are in base units as stored; an absent
// one is an empty cell or null. Names are a contract; fields may be added. A text that a spreadsheet would take for a
// formula is prefixed with an apostrophe. Parquet files lie as Hive's: points/partition=v1/part-0.parquet; the release
// is a column of the file as well, because engines take names of folders for numbers where they can, and 1.1 and 1.10
// would be one. The same data are the same bytes. The package computes nothing and does not know the command line.
package rows
