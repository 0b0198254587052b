// Package parquet writes the report's data as Parquet files, for engines that query more than fits a site. It is the
// only importer of parquet-go.
//
// In go columns and verdicts; out go files, one a table and release: runs, points, scores and verdicts, in the layout
// of Hive: points/partition=v1/part-0.parquet. The release is a column of the file as well: engines take the names of
// folders for numbers where they can, and 1.1 and 1.10 would be one. A number that is absent is null. The same data are
// the same bytes. The package computes nothing.
package parquet
