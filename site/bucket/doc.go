// Package bucket reads and writes the objects of a bucket on an S3-compatible store.
//
// In go an address, s3://BUCKET/PREFIX, the environment and bytes; out go objects, each with its SHA-256 as metadata.
// An object is whole or as it was before: the store takes a PUT as one. Keys are read from the environment alone
// and are in no error. The package must not know what the objects hold.
//
// Requests are signed by the signer of the AWS SDK, which is all that is taken of it: the program grows by 0.1 MB. With
// minio-go it grows by 2 MB and 18 modules, for four kinds of requests that have no body but a file's.
package bucket
