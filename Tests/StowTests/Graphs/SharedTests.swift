import Foundation
import Stow
import Testing

final class Member: Codable, Equatable {
  var name: String
  @Shared var chief: Member?
  @ConditionallyShared var deputy: Member?

  init(_ name: String, chief: Member? = nil, deputy: Member? = nil) {
    self.name = name
    _chief = Shared(wrappedValue: chief)
    _deputy = ConditionallyShared(wrappedValue: deputy)
  }

  static func == (left: Member, right: Member) -> Bool { left.name == right.name }
}

struct Project: Codable {
  @Shared var owner: Member
  @Shared var members: [Member]
  @Shared var roles: [String: Member?]
  @Shared var guest: Member?
  var others: [Shared<Member>] = []
}

extension Coder {
  /// The value that its graph comes back as.
  func copy<Root: Codable>(_ root: Root) throws -> Root { try reread(root, as: Root.self) }

  func reread<Root: Decodable>(_ root: some Encodable, as type: Root.Type) throws -> Root {
    try decode(SharedGraph<Root>.self, from: encode(SharedGraph(root))).root
  }
}

@Suite("Shared objects")
struct SharedTests {
  static var project: Project {
    let ada = Member("Ada")
    let bob = Member("Bob", chief: ada)
    let eve = Member("Eve", chief: bob, deputy: ada)
    return Project(
      owner: bob, members: [ada, bob, eve, ada], roles: ["a": ada, "none": nil], guest: nil,
      others: [Shared(wrappedValue: eve), Shared(wrappedValue: Member("Zoe"))])
  }

  @Test("each shared object is decoded as one object, by any coder")
  func identity() throws {
    for coder in coders(TypeRegistry()) {
      let copy = try coder.copy(Self.project)
      let (ada, bob, eve) = (copy.members[0], copy.members[1], copy.members[2])
      #expect([ada, bob, eve, ada].map(\.name) == ["Ada", "Bob", "Eve", "Ada"])
      #expect(copy.members[3] === ada && copy.owner === bob && copy.roles["a"] as? Member === ada)
      #expect(copy.roles["none"] == .some(nil) && copy.guest == nil)
      #expect(bob.chief === ada && eve.chief === bob && eve.deputy === ada && ada.chief == nil)
      #expect(copy.others[0].wrappedValue === eve && copy.others[1].wrappedValue.name == "Zoe")
    }
  }

  @Test("equal objects that are not identical stay separate")
  func equal() throws {
    for coder in coders(TypeRegistry()) {
      let copy = try coder.copy([Shared(wrappedValue: Member("Ada")), Shared(wrappedValue: Member("Ada"))])
      #expect(copy[0] == copy[1] && copy[0].wrappedValue !== copy[1].wrappedValue)
    }
  }

  @Test("a shared object is written once, with references to it")
  func form() throws {
    let ada = Member("Ada")
    let project = Project(owner: ada, members: [ada], roles: [:], guest: nil)
    let value = try StowValue(from: StowEncoder().encode(SharedGraph(project)))
    #expect(
      value == [
        "root": ["owner": ["shared": 0], "members": [["shared": 0]], "roles": [:], "others": []],
        "objects": ["0": ["name": "Ada"]],
      ])
  }

  @Test("shared objects are decoded in whatever order they are read, or not at all")
  func order() throws {
    struct Reversed: Decodable {
      let members: [Member]
      let guest: Member?
      enum CodingKeys: CodingKey { case members, guest, owner }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guest = try container.decode(Shared<Member?>.self, forKey: .guest).wrappedValue
        members = try container.decode([Shared<Member>].self, forKey: .members).reversed().map(\.wrappedValue)
        // A key twice.
        let again = try container.decode([Shared<Member>].self, forKey: .members)
        #expect(again.reversed().map { ObjectIdentifier($0.wrappedValue) } == members.map { ObjectIdentifier($0) })
      }
    }
    for coder in coders(TypeRegistry()) {
      let copy = try coder.reread(Self.project, as: Reversed.self)
      #expect(copy.members.map(\.name) == ["Ada", "Eve", "Bob", "Ada"])
      #expect(copy.members[0] === copy.members[3] && copy.members[2].chief === copy.members[0])
    }
  }

  @Test("shared objects are kept after values that threw, in encoding and decoding")
  func swallowed() throws {
    struct Failing: Codable {
      var person: Member
      init(_ person: Member) { self.person = person }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(Shared(wrappedValue: person))
        throw Refusal()
      }
      init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        person = try container.decode(Shared<Member>.self).wrappedValue
        throw Refusal()
      }
    }
    struct Careful: Codable {
      @Shared var person: Member
      init(_ person: Member) { _person = Shared(wrappedValue: person) }
      enum CodingKeys: CodingKey { case first, second }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try? container.encode(Failing(person), forKey: .first)
        try container.encode([_person, _person], forKey: .second)
      }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        #expect((try? container.decode(Failing.self, forKey: .second)) == nil)
        let both = try container.decode([Shared<Member>].self, forKey: .second)
        #expect(both[0].wrappedValue === both[1].wrappedValue)
        _person = both[0]
      }
    }
    for coder in coders(TypeRegistry()) {
      #expect(try coder.copy(Careful(Member("Ada", chief: Member("Bob")))).person.chief?.name == "Bob")
    }
  }

  @Test("shared objects may be of registered subclasses")
  func subclasses() throws {
    var types = TypeRegistry()
    types.register(Terrier.self, as: "terrier")
    struct Kennel: Codable {
      @Shared var pets: [Pet]
      @Shared var best: Terrier?
    }
    let rex = Terrier(name: "Rex", tricks: ["sit"])
    let kennel = Kennel(pets: [rex, Pet(name: "Ida"), rex], best: rex)
    for coder in coders(types) {
      let copy = try coder.copy(kennel)
      #expect(copy.pets[0] === copy.pets[2] && copy.pets[0] === copy.best && copy.best?.tricks == ["sit"])
      #expect(type(of: copy.pets[1]) == Pet.self)
    }
    for coder in coders(TypeRegistry()) {
      #expect(failure { try coder.copy(kennel) } == .invalidValue("root", "pets", 0))
    }
  }

  @Test("shared objects of a protocol may be of registered types")
  func protocols() throws {
    var types = TypeRegistry()
    types.register(Node.self, as: "node")
    struct Scene: Codable { @Shared var nodes: [any Named] }
    let node = Node()
    for coder in coders(types) {
      let copy = try coder.copy(Scene(nodes: [node, node])).nodes
      #expect(copy[0] === copy[1] && copy[0] is Node)
    }
  }

  @Test("conditionally shared objects are written only if something else shares them")
  func conditionally() throws {
    let ada = Member("Ada")
    let bob = Member("Bob", deputy: ada)
    for coder in coders(TypeRegistry()) {
      #expect(try coder.copy([Shared(wrappedValue: bob)])[0].wrappedValue.deputy == nil)
      for people in [[bob, ada], [ada, bob]] {
        let copy = try coder.copy(people.map { Shared(wrappedValue: $0) }).map(\.wrappedValue)
        let deputy = try #require(copy.first { $0.name == "Bob" }).deputy
        #expect(deputy === copy.first { $0.name == "Ada" } && deputy != nil)
      }
    }
  }

  @Test("shared objects belong to one graph, even if graphs nest or threads share a coder")
  func graphs() throws {
    let inner = SharedGraph(Self.project)
    let coder = StowCoder()
    let copy = try coder.copy([inner, inner])
    #expect(copy[0].root.owner !== copy[1].root.owner && copy[0].root.owner === copy[0].root.members[1])
    let data = try coder.encode(inner)
    DispatchQueue.concurrentPerform(iterations: 64) { _ in
      #expect(throws: Never.self) {
        let copy = try coder.decode(SharedGraph<Project>.self, from: data).root
        #expect(copy.owner === copy.members[1])
        #expect(try coder.copy(Self.project).owner.chief?.name == "Ada")
      }
    }
  }

  @Test("wrappers of shared objects are equal and hashable if their values are")
  func conformances() {
    #expect(Shared(wrappedValue: 1) == Shared(wrappedValue: 1))
    #expect(ConditionallyShared(wrappedValue: 1) != ConditionallyShared(wrappedValue: nil))
    #expect(Set([SharedGraph(1), SharedGraph(1)]).count == 1)
  }
}

private protocol Named: AnyObject, Codable {
  var name: String { get }
}

private final class Node: Named {
  var name = "node"
}
