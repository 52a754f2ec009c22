import Stow

// The types of payloads again, with tables of fields. Their values are decoded from the messages of the others.

struct TabledPoint: StowFields, Equatable, Sendable {
  var x: Double
  var y: Double
  var z: Double

  static let stowFields = FieldTable(
    TabledPoint.init(x:y:z:), Field("x", \.x), Field("y", \.y), Field("z", \.z))
}

struct TabledSmall: StowFields, Equatable, Sendable {
  var id: Int
  var name: String
  var flag: Bool
  var value: Double
  var note: String?

  static let stowFields = FieldTable(
    TabledSmall.init(id:name:flag:value:note:), Field("id", \.id), Field("name", \.name),
    Field("flag", \.flag), Field("value", \.value), Field("note", \.note))
}

struct TabledPerson: StowFields, Equatable, Sendable {
  struct Address: StowFields, Equatable, Sendable {
    var street: String
    var city: String
    var zip: String
    var country: String
    var latitude: Double
    var longitude: Double

    static let stowFields = FieldTable(
      Address.init(street:city:zip:country:latitude:longitude:), Field("street", \.street),
      Field("city", \.city), Field("zip", \.zip), Field("country", \.country),
      Field("latitude", \.latitude), Field("longitude", \.longitude))
  }

  var id: Int
  var firstName: String
  var lastName: String
  var email: String
  var age: Int
  var isActive: Bool
  var balance: Double
  var gender: Person.Gender
  var address: Address
  var tags: [String]
  var nickname: String?
  var phone: String?
  var managerID: Int?
  var score: Double?

  static let stowFields = FieldTable(
    TabledPerson.init(
      id:firstName:lastName:email:age:isActive:balance:gender:address:tags:nickname:phone:managerID:score:),
    Field("id", \.id), Field("firstName", \.firstName), Field("lastName", \.lastName),
    Field("email", \.email), Field("age", \.age), Field("isActive", \.isActive),
    Field("balance", \.balance), Field("gender", \.gender), Field("address", \.address),
    Field("tags", \.tags), Field("nickname", \.nickname), Field("phone", \.phone),
    Field("managerID", \.managerID), Field("score", \.score))
}
