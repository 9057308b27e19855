package io.sparklatency.spark;

import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Local files that keep the permissions they are made with. Where Hadoop has no native library the usual ones start three processes for
 * each file.
 */
public final class PlainFiles extends LocalFileSystem {
  public PlainFiles() {
    super(new Raw());
  }

  private static final class Raw extends RawLocalFileSystem {
    @Override
    public void setPermission(Path path, FsPermission permission) {}
  }
}
