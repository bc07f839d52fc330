import java.nio.file.{Files, Paths}

/** What the compiler is told about the Java it runs on. */
object Java {

  /** `-release` reads the class signatures of an older Java from `lib/ct.sym`, which runtimes without a compiler leave
    * out; without it only the bytecode can be pinned.
    */
  val bytecode: String = {
    val exact = sys.props("java.specification.version") == "17"
    val signatures = Files.exists(Paths.get(sys.props("java.home"), "lib", "ct.sym"))
    if (exact || signatures) "-release:17" else "-target:17"
  }
}
