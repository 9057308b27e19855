package io.sparklatency.spark;

import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/** Local files that keep the permissions they are made with. The usual ones start three processes for each file where Hadoop has no native library. */
public final class PlainFiles extends LocalFileSystem {
  public PlainFiles() {
    super(new Raw());
  }

  private static final class Raw extends RawLocalFileSystem {
    @Override
    public void setPermission(Path path, FsPermission permission) {}
  }
}
