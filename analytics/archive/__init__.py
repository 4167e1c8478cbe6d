"""The archive: raw views and questions as Parquet files in `ARCHIVE_DIR`, each row exactly once.

`background` writes what is due, one process of all at a time. `writer` writes the next range of a project, or all that
waits; a range is stored before its file, so whoever repeats it after a crash writes the same file. `views` and
`questions` read the rows of a range, and `rows` knows both. `changes` makes files again whose rows were erased or
redacted. `folder` has the names, the lock and the durable writing of files. `marker` says whether the folder is the
right one. `waiting` says how long rows have waited.

Others import `background`, `changes`, `folder`, `marker`, `waiting` and `writer`. Only `views`, `questions` and the
functions that read and write rows need pyarrow, which is installed only where there is an archive.
"""
