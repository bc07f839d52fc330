package sparkcer.engine.state

import sparkcer.engine.error.{Catalogued, Errors}

/** State that cannot be used: damaged, written by a newer version, or too large. */
final class StateException(val key: String, parameters: (String, String)*)
    extends RuntimeException(Errors.print(key, parameters: _*))
    with Catalogued
