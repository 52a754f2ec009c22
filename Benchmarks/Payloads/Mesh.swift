/// A triangle mesh: the `mesh` data set of the Rust serialization benchmark.
struct Mesh: Codable, Equatable, Sendable {
  /// A position or a direction.
  struct Vector: Codable, Equatable, Sendable {
    var x: Float
    var y: Float
    var z: Float
  }

  /// Three corners and the direction the face looks in.
  struct Triangle: Codable, Equatable, Sendable {
    var v0: Vector
    var v1: Vector
    var v2: Vector
    var normal: Vector
  }

  var triangles: [Triangle]

  /// A mesh of random triangles.
  static func make(triangles count: Int) -> Mesh {
    var random = RandomSource(seed: 15)
    func vector(_ random: inout RandomSource) -> Vector {
      Vector(x: random.float(in: -1...1), y: random.float(in: -1...1), z: random.float(in: -1...1))
    }
    return Mesh(
      triangles: random.array(count: count) {
        Triangle(v0: vector(&$0), v1: vector(&$0), v2: vector(&$0), normal: vector(&$0))
      })
  }
}
